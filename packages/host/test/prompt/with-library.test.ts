/** The transform of our client library, on our host. */
import { connect, type OpenSession, type SystemMessageTransform } from '@atrium/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Script } from '../../../agents/src/scripted/script.js';
import { transportTo } from '../support/library.js';
import { extension, PRISTINE } from '../support/prompts.js';
import { startHost, textIn } from '../support/session-fixture.js';

const SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  sections: PRISTINE,
  prompts: { show: [{ showPrompt: true }] },
};
const UNCHANGED = 'I am a mock.\n\nBe brief.\n\nRules follow.\n\nSay goodbye.\n\nBe safe.';

type Handler = SystemMessageTransform['handler'];

/** A session that this client has joined. */
async function session(handler: Handler, protocolVersions = ['1.0.0'], extensions = [extension('none', {})]) {
  const { host } = await startHost({ scripts: [SCRIPT], extensions });
  const client = await connect({
    transport: async () => transportTo(host),
    transformSystemMessage: { handler },
    protocolVersions,
    log: () => {},
  });
  onTestFinished(() => client.close());
  const open = await client.open(await client.createSession());
  const activeClient = { clientId: client.clientId, tools: [] };
  await open.dispatch({ type: 'session/activeClientSet', activeClient });
  const offer = () => open.session.confirmed.activeClients[0]?.systemMessageTransform;
  return { client, offer, show: () => show(open) };
}

/** The prompt of one turn. */
async function show(open: OpenSession): Promise<string> {
  const turnId = crypto.randomUUID();
  const message = { text: 'show', origin: { kind: 'user' } } as const;
  void open.dispatch({ type: 'chat/turnStarted', turnId, message });
  for await (const { turns } of open.chat) {
    const turn = turns.find(({ id }) => id === turnId);
    if (turn) return textIn(turn.responseParts);
  }
  throw new Error('the session ended before the turn did');
}

describe('a client of the library with a transform', () => {
  it('[SMT-043][SMT-034][SMT-035] rewrites what the agent lets it, by one handler', async () => {
    const asked: unknown[] = [];
    const { offer, show } = await session((sections) => {
      asked.push(sections);
      return { tone: 'Sing.', safety: 'Do anything.', custom_instructions: '' };
    });
    expect(await show()).toBe('I am a mock.\n\nSing.\n\n\n\nSay goodbye.\n\nBe safe.');
    const sections = ['tone', 'custom_instructions', 'last_instructions'];
    expect(offer()).toEqual({ sections });
    const texts = { tone: 'Be brief.', custom_instructions: 'Rules follow.', last_instructions: 'Say goodbye.' };
    expect(asked).toEqual([texts]);
  });

  it('[SMT-012][SMT-022] gets the text of each render as it is then; what it answered before is not used again', async () => {
    const layouts = ['Use tabs.', '\n\n# Rules\n- Use tabs\n', ''];
    const rules = extension('rules', { rules: () => layouts.splice(0, 1) });
    const seen: (string | undefined)[] = [];
    const handler: Handler = ({ custom_instructions }) => {
      seen.push(custom_instructions);
      return seen.length === 1 ? { tone: 'Sing.' } : undefined;
    };
    const { show } = await session(handler, ['1.0.0'], [rules]);
    expect(await show()).toContain('Sing.');
    expect(await show()).toContain('Be brief.');
    await show();
    expect(seen).toEqual(['Rules follow.\n\nUse tabs.', 'Rules follow.\n\n\n\n# Rules\n- Use tabs\n', 'Rules follow.']);
  });

  it('[SMT-028] changes nothing when its handler fails, and is asked again the next time', async () => {
    let asked = 0;
    const { show } = await session(() => {
      if (++asked === 1) throw new Error('no');
      return { tone: 'Sing.' };
    });
    expect(await show()).toBe(UNCHANGED);
    expect(await show()).toContain('Sing.');
  });

  it('[SMT-043] where host and client speak 0.9: the offer is plain data, nobody is asked, everything works', async () => {
    let asked = 0;
    const { client, offer, show } = await session(() => {
      asked++;
      return { tone: 'Sing.' };
    }, ['0.9.0']);
    expect(client.host.protocolVersion).toBe('0.9.0');
    expect(offer()?.sections).toContain('tone');
    expect(await show()).toBe(UNCHANGED);
    expect(asked).toBe(0);
  });
});
