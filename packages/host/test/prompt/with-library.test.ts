/** The transform of our client library, on our host. */
import { type Client, connect, type SystemMessageTransform } from '@atrium/client';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Script } from '../../../agents/src/scripted/script.js';
import { transportTo } from '../support/library.js';
import { extension, PRISTINE } from '../support/prompts.js';
import { lastText, startHost } from '../support/session-fixture.js';

const SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  sections: PRISTINE,
  prompts: { show: [{ showPrompt: true }] },
};
const UNCHANGED = 'I am a mock.\n\nBe brief.\n\nRules follow.\n\nSay goodbye.\n\nBe safe.';

type Handler = SystemMessageTransform['handler'];

/** A session whose active client is this one. */
async function session(handler: Handler, protocolVersions = ['0.3.0'], extensions = [extension('none', {})]) {
  const { host } = await startHost({ scripts: [SCRIPT], extensions });
  const client = await connect({
    transport: async () => transportTo(host),
    transformSystemMessage: { handler },
    protocolVersions,
    log: () => {},
  });
  onTestFinished(() => client.close());
  const subscription = await client.subscribe(await client.createSession());
  const activeClient = { clientId: client.clientId, tools: [] };
  await subscription.dispatch({ type: 'session/activeClientChanged', activeClient });
  return { client, subscription, show: () => show(client, subscription.uri) };
}

/** The prompt of one turn. */
async function show(client: Client, uri: string): Promise<string> {
  const subscription = await client.subscribe(uri);
  const turnId = crypto.randomUUID();
  void subscription.dispatch({ type: 'session/turnStarted', turnId, userMessage: { text: 'show' } });
  for await (const state of subscription) {
    if ((state as SessionState).turns.some(({ id }) => id === turnId)) break;
  }
  return lastText(subscription.state as SessionState);
}

describe('a client of the library with a transform', () => {
  it('[SMT-041][SMT-034][SMT-035] rewrites what the agent lets it, by one handler', async () => {
    const asked: unknown[] = [];
    const { subscription, show } = await session((sections) => {
      asked.push(sections);
      return { tone: 'Sing.', safety: 'Do anything.', custom_instructions: '' };
    });
    expect(await show()).toBe('I am a mock.\n\nSing.\n\n\n\nSay goodbye.\n\nBe safe.');
    const sections = ['tone', 'custom_instructions', 'last_instructions'];
    expect(subscription.state.activeClient?.systemMessageTransform).toEqual({ sections });
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
    const { show } = await session(handler, ['0.3.0'], [rules]);
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

  it('[SMT-039] where host and client speak 0.2.0: the offer is plain data, nobody is asked, everything works', async () => {
    let asked = 0;
    const { client, subscription, show } = await session(() => {
      asked++;
      return { tone: 'Sing.' };
    }, ['0.2.0']);
    expect(client.host.protocolVersion).toBe('0.2.0');
    expect(subscription.confirmed.activeClient?.systemMessageTransform?.sections).toContain('tone');
    expect(await show()).toBe(UNCHANGED);
    expect(asked).toBe(0);
  });
});
