/** What choosing a custom agent means for the turns that follow: its model, and the tools that the model hears of. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ToolDefinition } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { modelNamed } from '../../src/plugins/customizations/custom-agent.js';
import { type CustomRoom, openCustomRoom, POLL, PromptPuppet } from '../support/custom-room.js';
import { KeptLog } from '../support/logs.js';
import { envelopesOf, refusalOf } from '../support/session-room.js';

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

class CrewRoom {
  private constructor(readonly room: CustomRoom) {}

  static async open(session: object = {}, log = new KeptLog()): Promise<CrewRoom> {
    const agent = new PromptPuppet('puppet', { models: MODELS });
    const room = await openCustomRoom({ user: CREW, agent, session, log });
    await room.entry('crew');
    return new CrewRoom(room);
  }

  uriOf(name: string): string {
    return pathToFileURL(path.join(this.room.userFolder, `plugins/crew/agents/${name}.md`)).href;
  }

  choose(name: string | undefined): Promise<string | undefined> {
    const action = { type: 'session/agentChanged', ...(name && { agent: { uri: this.uriOf(name) } }) };
    return refusalOf(this.room.desk, this.room.uri, action);
  }

  chooseModel(id: string): Promise<string | undefined> {
    return refusalOf(this.room.desk, this.room.uri, { type: 'session/modelChanged', model: { id } });
  }

  async model(): Promise<string | undefined> {
    return (await this.room.state()).summary.model?.id;
  }
}

describe('the model of a custom agent', { timeout: 30_000 }, () => {
  it('[CUS-030] is chosen with the agent, for everybody to see, and its turns use it', async () => {
    const crew = await CrewRoom.open();
    await crew.choose('thinker');
    expect(await crew.model()).toBe('claude-opus-5');
    const { turn } = await crew.room.turn();
    expect(turn.model?.id).toBe('claude-opus-5');
  });

  it('[CUS-030] gives way to a model that a person chooses after the agent', async () => {
    const crew = await CrewRoom.open();
    await crew.choose('thinker');
    await crew.chooseModel('m-1');
    const { turn, finish } = await crew.room.turn();
    expect(turn.model?.id).toBe('m-1');
    finish();
    await crew.room.desk.action(crew.room.uri, 'session/turnComplete');
    await crew.choose('third');
    expect((await crew.room.turn()).turn.model?.id).toBe('m-3');
  });

  it('[CUS-030] counts in the order of the choices, also for those that wait for the end of a turn', async () => {
    const crew = await CrewRoom.open();
    const { desk, uri } = crew.room;
    const { finish } = await crew.room.turn();
    desk.dispatch(uri, { type: 'session/modelChanged', model: { id: 'm-1' } });
    desk.dispatch(uri, { type: 'session/agentChanged', agent: { uri: crew.uriOf('third') } });
    desk.dispatch(uri, { type: 'session/pendingMessageSet', kind: 'queued', id: 'q1', userMessage: { text: 'next' } });
    await desk.action(uri, 'session/pendingMessageSet');
    finish();
    expect((await crew.room.agent.turn(1)).turn.model?.id).toBe('m-3');
  });

  it('[CUS-030] counts for a session that begins with the agent, unless that names a model as well', async () => {
    const first = await CrewRoom.open();
    const agent = { uri: first.uriOf('third') };
    const workingDirectory = pathToFileURL(first.room.folder).href;
    const [alone, together] = ['ahp-session:/alone', 'ahp-session:/together'];
    const { desk } = first.room;
    await desk.session(alone, { workingDirectory, agent });
    await desk.session(together, { workingDirectory, agent, model: { id: 'm-1' } });
    const modelOf = async (uri: string) =>
      (await desk.state<{ summary: { model?: { id: string } } }>(uri)).summary.model?.id;
    await expect.poll(() => modelOf(alone)).toBe('m-3');
    expect(await modelOf(together)).toBe('m-1');
  });

  it('[CUS-030] that the agent does not have changes nothing, and people are told so once', async () => {
    const crew = await CrewRoom.open({ model: { id: 'm-1' } });
    const { desk, uri } = crew.room;
    await crew.choose('foreign');
    for (const turnId of ['t1', 't2']) {
      const { turn, finish } = await crew.room.turn();
      expect(turn.model?.id).toBe('m-1');
      finish();
      await desk.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === turnId);
    }
    const notes = envelopesOf(desk, uri).flatMap(({ action }) =>
      action.type === 'session/responsePart' ? (action.part as { content: string }).content : [],
    );
    expect(notes).toEqual([
      '"foreign" asks for the model gemini, which Puppet does not list; it works with another one.',
    ]);
  });

  it('[CUS-030] may be whatever is chosen anyway', async () => {
    const crew = await CrewRoom.open({ model: { id: 'm-3' } });
    await crew.choose('plain');
    expect(await crew.model()).toBe('m-3');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-3');
    expect(envelopesOf(crew.room.desk, crew.room.uri).map(({ action }) => action.type)).not.toContain(
      'session/modelChanged',
    );
  });

  it('[CUS-030] goes with the agent: what was chosen before comes back, also after a restart', async () => {
    const crew = await CrewRoom.open({ model: { id: 'm-1' } });
    await crew.choose('thinker');
    await crew.choose('third');
    expect(await crew.model()).toBe('m-3');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-1');
    await crew.choose('thinker');
    await crew.room.restart();
    await crew.room.desk.request('subscribe', { channel: crew.room.uri });
    expect(await crew.model()).toBe('claude-opus-5');
    await crew.choose('plain');
    // The agent's file has to be read first.
    await expect.poll(() => crew.model(), POLL).toBe('m-1');
  });

  it('[CUS-030] makes room for the first one again, where nobody had chosen any', async () => {
    const crew = await CrewRoom.open();
    await crew.choose('third');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-1');
  });

  it('[CUS-030] leaves a model alone that a person chose after the agent, also when the agent is left', async () => {
    const crew = await CrewRoom.open({ model: { id: 'm-1' } });
    await crew.choose('thinker');
    await crew.chooseModel('m-3');
    await crew.choose(undefined);
    expect(await crew.model()).toBe('m-3');
  });

  it('[CUS-030] leaves a model alone that a person chose before the host had read its notes', async () => {
    const log = new SlowNotes();
    const crew = await CrewRoom.open({ model: { id: 'm-1' } }, log);
    await crew.choose('thinker');
    const goOn = log.holdUp();
    await crew.room.restart();
    await crew.chooseModel('m-3');
    goOn();
    await crew.room.entry('crew', ({ load }) => load?.kind === 'loaded');
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

  it('[CUS-030] are all that the model hears of, whoever offers them', async () => {
    const crew = await CrewRoom.open();
    const { desk, uri } = crew.room;
    const tools = ['client_only', 'look', 'read_file'].map(tool);
    await refusalOf(desk, uri, { type: 'session/activeClientChanged', activeClient: { clientId: 'desk', tools } });
    await crew.choose('reader');
    const { turn } = await crew.room.turn();
    const names = turn.tools().map(({ name }) => name);
    expect(names.sort()).toEqual(['client_only', 'client_read_file', 'read_file', 'search_files']);
    expect(turn.hiddenTools()('Bash')).toBe(true);
    expect(turn.hiddenTools()('Read')).toBe(false);
    // A model may make up a call of what it was never told of.
    expect(await turn.callTool({ name: 'shell', input: { command: 'true' } })).toMatchObject({ kind: 'denied' });
    expect(await turn.callTool({ name: 'look', input: {} })).toMatchObject({ kind: 'denied' });
  });

  it('[CUS-030] are all tools again when another agent is chosen', async () => {
    const crew = await CrewRoom.open();
    await crew.choose('reader');
    await crew.choose('plain');
    const { turn } = await crew.room.turn();
    expect(turn.tools().map(({ name }) => name)).toContain('shell');
  });

  it('[CUS-030] that are all of another host do not leave the agent with nothing', async () => {
    const crew = await CrewRoom.open();
    await crew.choose('other-host');
    const { turn } = await crew.room.turn();
    expect(turn.tools().map(({ name }) => name)).toContain('shell');
    expect(turn.hiddenTools()('Bash')).toBe(false);
  });

  it('[CUS-030] may be those that the backend itself brings', async () => {
    const agent = new PromptPuppet('puppet', { models: MODELS });
    Object.assign(agent, { ownToolNames: () => ['view', 'bash'], abilities: { ...agent.abilities, ownTools: true } });
    const room = await openCustomRoom({ user: CREW, agent });
    await room.entry('crew');
    const uri = pathToFileURL(path.join(room.userFolder, 'plugins/crew/agents/reader.md')).href;
    await refusalOf(room.desk, room.uri, { type: 'session/agentChanged', agent: { uri } } as never);
    const { turn } = await room.turn();
    expect(['view', 'bash'].map(turn.hiddenTools())).toEqual([false, true]);
    const call = turn.agentRunCall({ name: 'bash', displayName: 'Bash' });
    expect(await call.check({}, 'Run it')).toMatchObject({ kind: 'denied' });
  });
});
