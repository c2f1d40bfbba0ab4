/** What choosing a custom agent means for the turns that follow: its model, and the tools that the model hears of. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ToolDefinition } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { modelNamed } from '../../src/plugins/customizations/custom-agent.js';
import { type CustomFixture, openCustomFixture, POLL, PromptPuppet } from '../support/custom-fixture.js';
import { KeptLog } from '../support/logs.js';
import { envelopesOf, refusalOf } from '../support/session-fixture.js';

const MODELS = [
  { id: 'm-1', provider: 'puppet', name: 'First' },
  { id: 'claude-opus-5', provider: 'puppet', name: 'Claude Opus 5' },
  { id: 'm-3', provider: 'puppet', name: 'Third' },
];

const agentFile = (front: string) => `---\ndescription: One of the crew.\n${front}\n---\nBe good.`;

const CREW = {
  'plugins/crew/agents/thinker.md': agentFile('name: thinker\nmodel: opus'),
  'plugins/crew/agents/third.md': agentFile('name: third\nmodel: Third'),
  'plugins/crew/agents/foreign.md': agentFile('name: foreign\nmodel: gemini'),
  'plugins/crew/agents/plain.md': agentFile('name: plain\nmodel: inherit'),
  'plugins/crew/agents/reader.md': agentFile('name: reader\ntools: Read, Grep, client_only'),
  'plugins/crew/agents/other-host.md': agentFile('name: other-host\ntools: [launch_rocket]'),
};

/** Keeps its reader waiting for what a session had before its agent. */
class SlowNotes extends KeptLog {
  #ready: Promise<void> = Promise.resolve();

  holdUp(): () => void {
    let goOn = () => {};
    this.#ready = new Promise((resolve) => {
      goOn = resolve;
    });
    return goOn;
  }

  override async record(key: string): Promise<string | undefined> {
    if (key.startsWith('model-before:')) await this.#ready;
    return super.record(key);
  }
}

class CrewFixture {
  private constructor(readonly fixture: CustomFixture) {}

  static async open(session: object = {}, log = new KeptLog()): Promise<CrewFixture> {
    const agent = new PromptPuppet('puppet', { models: MODELS });
    const fixture = await openCustomFixture({ user: CREW, agent, session, log });
    await fixture.entry('crew');
    return new CrewFixture(fixture);
  }

  uriOf(name: string): string {
    return pathToFileURL(path.join(this.fixture.userFolder, `plugins/crew/agents/${name}.md`)).href;
  }

  choose(name: string | undefined): Promise<string | undefined> {
    const action = { type: 'session/agentChanged', ...(name && { agent: { uri: this.uriOf(name) } }) };
    return refusalOf(this.fixture.client, this.fixture.uri, action);
  }

  chooseModel(id: string): Promise<string | undefined> {
    return refusalOf(this.fixture.client, this.fixture.uri, { type: 'session/modelChanged', model: { id } });
  }

  async model(): Promise<string | undefined> {
    return (await this.fixture.state()).summary.model?.id;
  }
}

describe('the model of a custom agent', { timeout: 30_000 }, () => {
  it('[CUS-030] is chosen with the agent, for everybody to see, and its turns use it', async () => {
    const crew = await CrewFixture.open();
    await crew.choose('thinker');
    expect(await crew.model()).toBe('claude-opus-5');
    const { turn } = await crew.fixture.turn();
    expect(turn.model?.id).toBe('claude-opus-5');
  });

  it('[CUS-030] gives way to a model that a person chooses after the agent', async () => {
    const crew = await CrewFixture.open();
    await crew.choose('thinker');
    await crew.chooseModel('m-1');
    const { turn, finish } = await crew.fixture.turn();
    expect(turn.model?.id).toBe('m-1');
    finish();
    await crew.fixture.client.action(crew.fixture.uri, 'session/turnComplete');
    await crew.choose('third');
    expect((await crew.fixture.turn()).turn.model?.id).toBe('m-3');
  });

  it('[CUS-030] counts in the order of the choices, also for those that wait for the end of a turn', async () => {
    const crew = await CrewFixture.open();
    const { client, uri } = crew.fixture;
    const { finish } = await crew.fixture.turn();
    client.dispatch(uri, { type: 'session/modelChanged', model: { id: 'm-1' } });
    client.dispatch(uri, { type: 'session/agentChanged', agent: { uri: crew.uriOf('third') } });
    client.dispatch(uri, {
      type: 'session/pendingMessageSet',
      kind: 'queued',
      id: 'q1',
      userMessage: { text: 'next' },
    });
    await client.action(uri, 'session/pendingMessageSet');
    finish();
    expect((await crew.fixture.agent.turn(1)).turn.model?.id).toBe('m-3');
  });

  it('[CUS-030] counts for a session that begins with the agent, unless that names a model as well', async () => {
    const first = await CrewFixture.open();
    const agent = { uri: first.uriOf('third') };
    const workingDirectory = pathToFileURL(first.fixture.folder).href;
    const [alone, together] = ['ahp-session:/alone', 'ahp-session:/together'];
    const { client } = first.fixture;
    await client.session(alone, { workingDirectory, agent });
    await client.session(together, { workingDirectory, agent, model: { id: 'm-1' } });
    const modelOf = async (uri: string) =>
      (await client.state<{ summary: { model?: { id: string } } }>(uri)).summary.model?.id;
    await expect.poll(() => modelOf(alone)).toBe('m-3');
    expect(await modelOf(together)).toBe('m-1');
  });

  it('[CUS-030] that the agent does not have changes nothing, and people are told so once', async () => {
    const crew = await CrewFixture.open({ model: { id: 'm-1' } });
    const { client, uri } = crew.fixture;
    await crew.choose('foreign');
    for (const turnId of ['t1', 't2']) {
      const { turn, finish } = await crew.fixture.turn();
      expect(turn.model?.id).toBe('m-1');
      finish();
      await client.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === turnId);
    }
    const notes = envelopesOf(client, uri).flatMap(({ action }) =>
      action.type === 'session/responsePart' ? (action.part as { content: string }).content : [],
    );
    expect(notes).toEqual([
      '"foreign" asks for the model gemini, which Puppet does not list; it works with another one.',
    ]);
  });

  it('[CUS-030] may be whatever is chosen anyway', async () => {
    const crew = await CrewFixture.open({ model: { id: 'm-3' } });
    await crew.choose('plain');
    expect(await crew.model()).toBe('m-3');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-3');
    expect(envelopesOf(crew.fixture.client, crew.fixture.uri).map(({ action }) => action.type)).not.toContain(
      'session/modelChanged',
    );
  });

  it('[CUS-030] goes with the agent: what was chosen before comes back, also after a restart', async () => {
    const crew = await CrewFixture.open({ model: { id: 'm-1' } });
    await crew.choose('thinker');
    await crew.choose('third');
    expect(await crew.model()).toBe('m-3');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-1');
    await crew.choose('thinker');
    await crew.fixture.restart();
    await crew.fixture.client.request('subscribe', { channel: crew.fixture.uri });
    expect(await crew.model()).toBe('claude-opus-5');
    await crew.choose('plain');
    // The agent's file has to be read first.
    await expect.poll(() => crew.model(), POLL).toBe('m-1');
  });

  it('[CUS-030] makes room for the first one again, where nobody had chosen any', async () => {
    const crew = await CrewFixture.open();
    await crew.choose('third');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-1');
  });

  it('[CUS-030] leaves a model alone that a person chose after the agent, also when the agent is left', async () => {
    const crew = await CrewFixture.open({ model: { id: 'm-1' } });
    await crew.choose('thinker');
    await crew.chooseModel('m-3');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-3');
  });

  it('[CUS-030] leaves a model alone that a person chose before the host had read its notes', async () => {
    const log = new SlowNotes();
    const crew = await CrewFixture.open({ model: { id: 'm-1' } }, log);
    await crew.choose('thinker');
    const goOn = log.holdUp();
    await crew.fixture.restart();
    await crew.chooseModel('m-3');
    goOn();
    await crew.fixture.entry('crew', ({ load }) => load?.kind === 'loaded');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-3');
  });

  it('[CUS-030] is found by id, by name, and by a word of either', () => {
    const found = ['m-3', 'FIRST', 'claude opus 5', 'opus', 'Third (copilot)', 'op', 'gemini', ''];
    expect(found.map((wanted) => modelNamed(wanted, MODELS))).toEqual([
      ...['m-3', 'm-1', 'claude-opus-5', 'claude-opus-5', 'm-3'],
      ...[undefined, undefined, undefined],
    ]);
  });
});

describe('the tools of a custom agent', { timeout: 30_000 }, () => {
  const tool = (name: string): ToolDefinition => ({ name, inputSchema: { type: 'object' } });

  it('[CUS-030] are all that the model hears of, from every source', async () => {
    const crew = await CrewFixture.open();
    const { client, uri } = crew.fixture;
    const tools = ['client_only', 'look', 'read_file'].map(tool);
    await refusalOf(client, uri, { type: 'session/activeClientChanged', activeClient: { clientId: 'desk', tools } });
    await crew.choose('reader');
    const { turn } = await crew.fixture.turn();
    const names = turn.tools().map(({ name }) => name);
    expect(names.sort()).toEqual(['client_only', 'client_read_file', 'read_file', 'search_files']);
    expect(turn.hiddenTools()('Bash')).toBe(true);
    expect(turn.hiddenTools()('Read')).toBe(false);
    // A model may make up a call of what it was never told of.
    expect(await turn.callTool({ name: 'shell', input: { command: 'true' } })).toMatchObject({ kind: 'denied' });
    expect(await turn.callTool({ name: 'look', input: {} })).toMatchObject({ kind: 'denied' });
  });

  it('[CUS-030] are all tools again when another agent is chosen', async () => {
    const crew = await CrewFixture.open();
    await crew.choose('reader');
    await crew.choose('plain');
    const { turn } = await crew.fixture.turn();
    expect(turn.tools().map(({ name }) => name)).toContain('shell');
  });

  it('[CUS-030] that are all of another host do not leave the agent with nothing', async () => {
    const crew = await CrewFixture.open();
    await crew.choose('other-host');
    const { turn } = await crew.fixture.turn();
    expect(turn.tools().map(({ name }) => name)).toContain('shell');
    expect(turn.hiddenTools()('Bash')).toBe(false);
  });

  it('[CUS-030] may be those that the backend itself brings', async () => {
    const agent = new PromptPuppet('puppet', { models: MODELS });
    Object.assign(agent, { ownToolNames: () => ['view', 'bash'], abilities: { ...agent.abilities, ownTools: true } });
    const fixture = await openCustomFixture({ user: CREW, agent });
    await fixture.entry('crew');
    const uri = pathToFileURL(path.join(fixture.userFolder, 'plugins/crew/agents/reader.md')).href;
    await refusalOf(fixture.client, fixture.uri, { type: 'session/agentChanged', agent: { uri } } as never);
    const { turn } = await fixture.turn();
    expect(['view', 'bash'].map(turn.hiddenTools())).toEqual([false, true]);
    const call = turn.agentRunCall({ name: 'bash', displayName: 'Bash' });
    expect(await call.check({}, 'Run it')).toMatchObject({ kind: 'denied' });
  });
});
