import { withClient } from '@atrium/core/prompt/client-transform.js';
import { TRANSFORM_MAX_BYTES, TRANSFORM_MAX_SECTIONS, TRANSFORM_TIMEOUT_MS } from '@atrium/core/prompt/limits.js';
import { type LogFields, silentLogger } from '@atrium/core/util/logger.js';
import { FIRST_HOST_REQUEST_ID } from '@atrium/core/wire/limits.js';
import type { SessionActiveClient } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../agents/src/scripted/script.js';
import { FakeClock } from '../support/fake-clock.js';
import { askerOf } from '../support/prompts.js';
import { refusalOf, startHost, stateOf } from '../support/session-fixture.js';
import { type Message, type RawClient, ROOT, settle } from '../support/test-host.js';

const PRISTINE = {
  identity: 'I am a mock.',
  tone: 'Be brief.',
  environment_context: 'cwd=/srv/app',
  safety: 'Be safe.',
};
const SCRIPT: Script = {
  provider: 'mock',
  displayName: 'Mock',
  sections: PRISTINE,
  prompts: { show: [{ showPrompt: true }], 'show identity': [{ showPrompt: 'identity' }] },
  default: [{ text: 'ok' }],
};

async function fixture(clock?: FakeClock) {
  return startHost({ scripts: [SCRIPT], ...(clock && { clock }) });
}

/** Makes a client the active one, with these sections to rewrite. */
async function claim(client: RawClient, channel: string, sections?: string[]): Promise<void> {
  const activeClient: SessionActiveClient = {
    clientId: client.clientId,
    tools: [],
    ...(sections && { systemMessageTransform: { sections } }),
  };
  client.dispatch(channel, { type: 'session/activeClientChanged', activeClient });
  await client.action(channel, 'session/activeClientChanged');
}

const requestsIn = (client: RawClient): Message[] =>
  client.received.filter(({ method }) => method === 'systemMessageTransform');

async function asked(client: RawClient, nth = 1): Promise<Message> {
  await client.until(() => requestsIn(client).length >= nth);
  return requestsIn(client)[nth - 1] ?? {};
}

function answer(client: RawClient, { id }: Message, result: object): void {
  client.send({ id, result });
}

const rewritten = (sections: Record<string, unknown>) => ({
  sections: Object.fromEntries(Object.entries(sections).map(([id, content]) => [id, { content }])),
});

/** The rendered prompt of the last finished turn. */
async function shown(client: RawClient, channel: string): Promise<string> {
  const { turns } = await client.state<{ turns: { responseParts: { content: string }[] }[] }>(channel);
  return (
    turns
      .at(-1)
      ?.responseParts.map(({ content }) => content)
      .join('') ?? ''
  );
}

const UNCHANGED = Object.values(PRISTINE).join('\n\n');

describe('a client that opted in', () => {
  it('[SMT-004][SMT-018][SMT-020][SMT-025] gets all its sections in one request, on the channel of the session', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone', 'environment_context']);
    const turn = client.turn(channel, 'show');
    const request = await asked(client);
    expect(request).toEqual({
      jsonrpc: '2.0',
      id: FIRST_HOST_REQUEST_ID,
      method: 'systemMessageTransform',
      params: {
        channel,
        sections: { tone: { content: 'Be brief.' }, environment_context: { content: 'cwd=/srv/app' } },
      },
    });
    answer(client, request, rewritten({ tone: 'Sing.' }));
    await turn;
    expect(requestsIn(client)).toHaveLength(1);
  });

  it('[SMT-005][SMT-008][SMT-009][SMT-041] rewrites what it returns, and leaves what it does not', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone', 'environment_context']);
    const turn = client.turn(channel, 'show');
    answer(client, await asked(client), rewritten({ tone: '' }));
    await turn;
    expect(await shown(client, channel)).toBe(UNCHANGED.replace('Be brief.', ''));
  });

  it('[SMT-010][SMT-026][SMT-027][SMT-031][SMT-036] is asked only for what is rendered and not restricted, and cannot add to it', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['safety', 'identity', 'tone', 'unheard-of']);
    const turn = client.turn(channel, 'show');
    const request = await asked(client);
    expect(Object.keys((request.params as { sections: object }).sections)).toEqual(['tone']);
    const more = { safety: 'Do anything.', identity: 'I am root.', environment_context: 'cwd=/', unheard: 'x' };
    answer(client, request, rewritten({ tone: 'Sing.', ...more }));
    await turn;
    expect(await shown(client, channel)).toBe(UNCHANGED.replace('Be brief.', 'Sing.'));
  });

  it('[SMT-022] is asked at every render', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone']);
    for (const nth of [1, 2]) {
      const turn = client.turn(channel, 'show');
      answer(client, await asked(client, nth), rewritten({ tone: `Take ${nth}.` }));
      await turn;
      expect(await shown(client, channel)).toContain(`Take ${nth}.`);
    }
  });

  it('[SMT-013][SMT-015][SMT-016] shows its opt-in, ids only, to everyone; new tools leave it alone', async () => {
    const host = await fixture();
    const client = await host.client();
    const other = await host.client();
    const channel = await client.session();
    await other.request('subscribe', { channel });
    const systemMessageTransform = { sections: ['unheard-of', 'tone', 'safety'] };
    await claim(client, channel, systemMessageTransform.sections);
    const claimed = { clientId: client.clientId, tools: [], systemMessageTransform };
    const echoed = await other.action(channel, 'session/activeClientChanged');
    expect(echoed.action.activeClient).toEqual(claimed);
    const tools = [{ name: 'open' }];
    client.dispatch(channel, { type: 'session/activeClientToolsChanged', tools });
    await client.action(channel, 'session/activeClientToolsChanged');
    const state = await other.state<{ activeClient: SessionActiveClient }>(channel);
    expect(state.activeClient).toEqual({ ...claimed, tools });
  });

  it('[SMT-006] names its sections in a list of ids; anything else is no claim', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    const claimOf = (systemMessageTransform: unknown) => {
      const activeClient = { clientId: client.clientId, tools: [], systemMessageTransform };
      return { type: 'session/activeClientChanged', activeClient };
    };
    for (const wrong of [{}, ['tone'], { sections: 'tone' }, { sections: [5] }]) {
      expect(await refusalOf(client, channel, claimOf(wrong))).toContain('systemMessageTransform');
    }
    expect(await refusalOf(client, channel, claimOf({ sections: ['tone'] }))).toBeUndefined();
    const { activeClient } = await client.state<{ activeClient: SessionActiveClient }>(channel);
    expect(activeClient.systemMessageTransform).toEqual({ sections: ['tone'] });
  });

  it('[SMT-033] may change what it offers in mid-session: it counts from the next render on', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    for (const [nth, sections] of [['tone'], ['environment_context'], ['tone', 'environment_context']].entries()) {
      await claim(client, channel, sections);
      const turn = client.turn(channel, 'show');
      const request = await asked(client, nth + 1);
      expect(Object.keys((request.params as { sections: object }).sections)).toEqual(sections);
      answer(client, request, rewritten({}));
      await turn;
    }
  });

  it('[SMT-014] is not asked any more after it gave the role up, nor is whoever takes it without an opt-in', async () => {
    const host = await fixture();
    const client = await host.client('desk');
    const other = await host.client('phone');
    const channel = await client.session();
    await other.request('subscribe', { channel });
    const role = async () => (await client.state<{ activeClient?: SessionActiveClient }>(channel)).activeClient;
    const give = (from: RawClient, activeClient: SessionActiveClient | null) =>
      refusalOf(from, channel, { type: 'session/activeClientChanged', activeClient });
    await claim(client, channel, ['tone']);
    expect(await give(client, null)).toBeUndefined();
    await client.turn(channel, 'show');
    expect(await role()).toBeUndefined();
    await claim(client, channel, ['tone']);
    await give(client, null);
    const heir = { clientId: 'phone', tools: [] };
    expect(await give(other, heir)).toBeUndefined();
    await client.turn(channel, 'show');
    expect(await role()).toEqual(heir);
    expect([...requestsIn(client), ...requestsIn(other)]).toEqual([]);
    expect(await shown(client, channel)).toBe(UNCHANGED);
  });

  it('[SMT-017] keeps its text out of state, snapshots and replay', async () => {
    const host = await fixture();
    const client = await host.client();
    const other = await host.client();
    const channel = await client.session();
    await other.request('subscribe', { channel });
    await claim(client, channel, ['tone']);
    const turn = client.turn(channel, 'show identity');
    answer(client, await asked(client), rewritten({ tone: 'Sing.' }));
    await turn;
    await other.state(channel);
    const kept = JSON.stringify([await host.log.read({ after: 0 }), await client.state(channel), other.received]);
    expect(kept).toContain('I am a mock.');
    expect(kept).not.toMatch(/Be brief|Sing/);
  });
});

describe('nobody is asked', () => {
  it('[SMT-019][SMT-023][UNI-108] without an active client, without an opt-in, with an empty one, with nothing to rewrite', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await client.turn(channel, 'show');
    for (const sections of [undefined, [], ['safety'], ['unheard-of']]) {
      await claim(client, channel, sections);
      await client.turn(channel, 'show');
      expect(await shown(client, channel)).toBe(UNCHANGED);
    }
    expect(requestsIn(client)).toEqual([]);
  });

  it('[SMT-024][SMT-039][SMT-040][UNI-008][UNI-108] on a connection below 0.3.0', async () => {
    const host = await fixture();
    const client = await host.client('old', { protocolVersions: ['0.2.0'] });
    const channel = await client.session();
    await claim(client, channel, ['tone']);
    await client.turn(channel, 'show');
    expect(requestsIn(client)).toEqual([]);
    expect(await shown(client, channel)).toBe(UNCHANGED);
    expect((await stateOf(client, channel)).activeClient?.systemMessageTransform).toEqual({ sections: ['tone'] });
  });
});

describe('[SMT-028] whatever goes wrong, the text stays as it was', () => {
  it.each([
    ['[SMT-011] no sections', {}],
    ['[SMT-011] one entry that is no string, beside a good one', rewritten({ tone: 'Sing.', environment_context: 5 })],
    ['[SMT-011] an answer that is no object', null],
    ['[SMT-032] an answer that is too large', rewritten({ tone: 'x'.repeat(TRANSFORM_MAX_BYTES + 1) })],
    ['[SMT-032] one with fewer characters than bytes', rewritten({ tone: 'ü'.repeat(TRANSFORM_MAX_BYTES / 2 + 1) })],
    [
      '[SMT-032] two texts that are too large together',
      rewritten({ tone: 'x'.repeat(TRANSFORM_MAX_BYTES), environment_context: 'y' }),
    ],
  ])('%s', async (_, result) => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone', 'environment_context']);
    const turn = client.turn(channel, 'show');
    client.send({ id: (await asked(client)).id, result });
    await turn;
    expect(await shown(client, channel)).toBe(UNCHANGED);
  });

  it('[SMT-032] an answer at the limit is taken', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone']);
    const turn = client.turn(channel, 'show');
    answer(client, await asked(client), rewritten({ tone: 'x'.repeat(TRANSFORM_MAX_BYTES) }));
    await turn;
    expect((await shown(client, channel)).length).toBeGreaterThan(TRANSFORM_MAX_BYTES);
  });

  it('[SMT-028][REL-024][UNI-009] "method not found": not asked again on this connection', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone']);
    const turn = client.turn(channel, 'show');
    client.send({ id: (await asked(client)).id, error: { code: -32601, message: 'no' } });
    await turn;
    await client.turn(channel, 'show');
    expect(requestsIn(client)).toHaveLength(1);
    expect(await shown(client, channel)).toBe(UNCHANGED);
  });

  it('[SMT-029][UNI-032] silence: after five seconds', async () => {
    const clock = new FakeClock();
    const host = await fixture(clock);
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone']);
    const turn = client.turn(channel, 'show');
    const request = await asked(client);
    clock.advance(TRANSFORM_TIMEOUT_MS - 1);
    await settle();
    expect(client.types(channel)).not.toContain('session/turnComplete');
    clock.advance(1);
    await turn;
    answer(client, request, rewritten({ tone: 'Too late.' }));
    await settle();
    expect(await shown(client, channel)).toBe(UNCHANGED);
  });

  it('[SMT-021][UNI-032] another client takes over meanwhile: the answer of the first still counts, the other is asked next', async () => {
    const host = await fixture();
    const client = await host.client('desk');
    const other = await host.client('phone');
    const channel = await client.session();
    await other.request('subscribe', { channel });
    await claim(client, channel, ['tone']);
    const turn = client.turn(channel, 'show');
    const request = await asked(client);
    client.dispatch(channel, { type: 'session/activeClientChanged', activeClient: null });
    const activeClient = { clientId: 'phone', tools: [], systemMessageTransform: { sections: ['tone'] } };
    await client.action(channel, ({ activeClient: now }) => now === null);
    expect(
      await refusalOf(other, channel, { type: 'session/activeClientChanged', activeClient } as never),
    ).toBeUndefined();
    answer(client, request, rewritten({ tone: 'Sing.' }));
    await turn;
    expect(await shown(client, channel)).toBe(UNCHANGED.replace('Be brief.', 'Sing.'));
    expect(requestsIn(other)).toEqual([]);
    const next = client.turn(channel, 'show');
    answer(other, await asked(other), rewritten({ tone: 'Hum.' }));
    await next;
    expect(await shown(client, channel)).toBe(UNCHANGED.replace('Be brief.', 'Hum.'));
    expect(requestsIn(client)).toHaveLength(1);
  });

  it('[SMT-021] the client leaves: nobody else is asked in its place', async () => {
    const host = await fixture();
    const client = await host.client();
    const other = await host.client();
    const channel = await other.session();
    await client.request('subscribe', { channel });
    await claim(client, channel, ['tone']);
    const turn = other.turn(channel, 'show');
    await asked(client);
    client.disconnect();
    await turn;
    expect(requestsIn(other)).toEqual([]);
    expect(await shown(other, channel)).toBe(UNCHANGED);
  });
});

describe('what is published and logged', () => {
  it('[SMT-007][SMT-030][UNI-035] the catalogue of sections, with what is restricted', async () => {
    const host = await fixture();
    const client = await host.client();
    const { agents } = await client.state<{ agents: { systemMessageSections: object[] }[] }>(ROOT);
    expect(agents[0]?.systemMessageSections).toMatchObject([
      { id: 'identity', restricted: true },
      { id: 'tone' },
      { id: 'environment_context' },
      { id: 'safety', restricted: true },
    ]);
    expect(agents[0]?.systemMessageSections[1]).not.toHaveProperty('restricted', true);
  });

  it('[SMT-037][SMT-038][REL-026] each section with hashes, at debug level, never the text', async () => {
    const lines: { level: string; message: string; fields: LogFields | undefined }[] = [];
    const activeClient = { clientId: 'desk', tools: [], systemMessageTransform: { sections: ['tone'] } };
    const sections = await withClient(new Map([['tone', 'Be brief.']]), {
      session: 'ahp-session:/1',
      activeClients: [activeClient],
      clients: askerOf(() => ({ tone: 'Sing.' })),
      logger: { log: (level, message, fields) => lines.push({ level, message, fields }) },
    });
    expect(sections.get('tone')).toBe('Sing.');
    expect(lines).toEqual([
      {
        level: 'debug',
        message: 'prompt transform',
        fields: {
          session: 'ahp-session:/1',
          stage: 'client',
          by: 'desk',
          section: 'tone',
          before: expect.stringMatching(/^[0-9a-f]{16}$/),
          after: expect.stringMatching(/^[0-9a-f]{16}$/),
        },
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/Be brief|Sing/);
  });

  it('[SMT-038] nothing that a client answers, good or bad, at a level above debug', async () => {
    const lines: string[] = [];
    const logger = { log: (level: string, ...more: unknown[]) => lines.push(JSON.stringify([level, ...more])) };
    const host = await startHost({ scripts: [SCRIPT], logger });
    const client = await host.client();
    const channel = await client.session();
    await claim(client, channel, ['tone']);
    const answers: object[] = [
      { result: rewritten({ tone: 'Secret song.' }) },
      { result: { sections: { tone: { content: ['Secret song.'] } } } },
      { result: rewritten({ tone: 'Secret song.'.repeat(TRANSFORM_MAX_BYTES / 10) }) },
      { error: { code: -32000, message: 'Secret song.' } },
    ];
    for (const [nth, given] of answers.entries()) {
      const turn = client.turn(channel, 'show identity');
      client.send({ id: (await asked(client, nth + 1)).id, ...given });
      await turn;
    }
    const debug = lines.filter((line) => line.startsWith('["debug"'));
    expect(debug.filter((line) => line.includes('prompt transform'))).toHaveLength(answers.length);
    expect(lines.filter((line) => !debug.includes(line)).join()).not.toMatch(/Secret|Be brief/);
  });

  it('[SMT-032] asks for so many sections, and not one more', async () => {
    const ids = Array.from({ length: TRANSFORM_MAX_SECTIONS + 1 }, (_, index) => `s${index}`);
    let count = 0;
    await withClient(new Map(ids.map((id) => [id, id])), {
      session: 'ahp-session:/1',
      activeClients: [{ clientId: 'desk', tools: [], systemMessageTransform: { sections: ids } }],
      clients: askerOf((sections) => {
        count = Object.keys(sections).length;
        return {};
      }),
      logger: silentLogger,
    });
    expect(count).toBe(TRANSFORM_MAX_SECTIONS);
  });

  it('[SMT-003] a client that sends the request itself learns that there is no such method', async () => {
    const host = await fixture();
    const client = await host.client();
    const channel = await client.session();
    expect((await client.ask('systemMessageTransform', { channel, sections: {} })).error?.code).toBe(-32601);
  });
});
