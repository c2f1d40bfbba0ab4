/** Copilot's sub-agents: each has a chat of its own, for those who can see it. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Gate } from '@atrium/core/contracts/extension.js';
import type { ChatState, SessionState, Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { bash, CopilotFixture, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import type { ServedAnswer, ServedCall } from '../support/model-server.js';
import { textIn } from '../support/session-fixture.js';
import type { Message, RawClient } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

/** A call that starts a sub-agent. */
const task = (name: string, mode = 'sync', id?: string): ServedCall => ({
  ...(id !== undefined && { id }),
  name: 'task',
  input: { description: `${name} work`, prompt: `do ${name}`, agent_type: 'general-purpose', name, mode },
});
/** What a sub-agent is asked in its first message: the agent that asks has the words in its call only. */
const CLOCK = '</current_datetime>\n\n';
const toldTo = (name: string) => `${CLOCK}do ${name}`;
const call = (name: string, input: object): ServedAnswer => ({ calls: [{ name, input }] });

interface Question {
  readonly chat: string;
  readonly turnId: string;
  readonly toolCall: { readonly toolCallId: string; readonly toolInput: string };
}

/** What somebody is asked to allow, in any chat of the session. */
async function question(watcher: RawClient, about: string): Promise<Question> {
  const asked = (message: Message) => message.params?.action as { type: string; request: Question } | undefined;
  const isAsked = (message: Message) =>
    asked(message)?.type === 'session/inputNeededSet' && JSON.stringify(message).includes(about);
  const request = asked(await watcher.until(isAsked, WAIT_MAX_MS))?.request;
  if (!request) throw new Error('nobody was asked');
  return request;
}

function allow(watcher: RawClient, { chat, turnId, toolCall: { toolCallId } }: Question): void {
  const answer = { type: 'chat/toolCallConfirmed', turnId, toolCallId, approved: true, confirmed: 'user-action' };
  watcher.dispatch(chat, answer as never);
}

/** The chats of workers, by their title. */
async function workersOf(watcher: RawClient, uri: string): Promise<Map<string, ChatState>> {
  const { chats, defaultChat } = await watcher.state<SessionState>(uri);
  const workers = (chats ?? []).filter(({ resource }) => resource !== defaultChat);
  const states = workers.map(({ resource }) => watcher.state<ChatState>(resource));
  return new Map((await Promise.all(states)).map((state) => [state.title ?? '', state]));
}

const lastTurn = (chat: ChatState | undefined): Turn => chat?.turns.at(-1) as Turn;

function callsOf(turn: Turn): string[] {
  return turn.responseParts.flatMap((part) =>
    part.kind === 'toolCall' ? `${part.toolCall.toolName} ${part.toolCall.status}` : [],
  );
}

const wordsOf = (turn: Turn) =>
  turn.responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('');

describe.skipIf(!hasCopilot)(`Copilot's sub-agents${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('[UP-078] [UNI-088] work in chats of their own, where gates and people decide what they do', async () => {
    const gate: Gate = {
      name: 'ci-watcher',
      concerns: ({ input }) => JSON.stringify(input).includes('denied'),
      check: () => ({ kind: 'deny', reason: 'CI is failing' }),
    };
    const ring = echoTool('ring', { work: () => 'rang twice' });
    const answers = [
      { calls: [task('plums', 'sync', 't')] },
      bash('touch denied'),
      bash('touch plums'),
      call('ring', { text: 'now' }),
      { reasoning: ['Hm.'], text: ['There are ', 'plums.'], usage: { input: 7, output: 5 } },
      { text: ['Done.'] },
    ];
    const fixture = await CopilotFixture.open(answers, { extension: { gates: [gate], tools: [ring] } });
    const watcher = await fixture.watcher();
    const turnId = fixture.begin('count');
    const asked = await question(watcher, 'touch plums');
    expect(asked.chat).toContain('ahp-chat://subagent/');
    allow(watcher, asked);
    const turn = await fixture.finished(turnId);
    expect(turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall.toolName : []))).toEqual([
      'task',
    ]);
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Done.']);
    expect([existsSync(path.join(fixture.folder, 'denied')), existsSync(path.join(fixture.folder, 'plums'))]).toEqual([
      false,
      true,
    ]);
    // The runtime hands in the calls of sub-agents twice.
    expect([ring.runs, fixture.heard(4).includes('rang twice')]).toEqual([[{ text: 'now' }], true]);
    expect(fixture.heard(2)).toContain('CI is failing');
    const chat = (await workersOf(watcher, fixture.uri)).get('plums work');
    expect(chat).toMatchObject({ resource: asked.chat, interactivity: 'read-only', origin: { kind: 'tool' } });
    const work = lastTurn(chat);
    expect(work).toMatchObject({ state: 'complete', message: { text: 'do plums', origin: { kind: 'agent' } } });
    expect(callsOf(work)).toEqual(['bash cancelled', 'bash completed', 'ring completed']);
    expect([wordsOf(work), work.usage?.inputTokens]).toEqual(['There are plums.', 7]);
    const { defaultChat = '' } = await watcher.state<SessionState>(fixture.uri);
    const shown = { type: 'subagent', resource: asked.chat, title: 'plums work' };
    expect(JSON.stringify((await watcher.state<ChatState>(defaultChat)).turns)).toContain(JSON.stringify(shown));
  });

  it('[UP-078] stay apart when they work side by side, or start others, and their calls have the same ids', async () => {
    const told = (name: string, answer: ServedAnswer) => ({ to: toldTo(name), ...answer });
    const fixture = await CopilotFixture.open([
      { calls: [task('left', 'sync', 'l'), task('right', 'sync', 'r')] },
      told('left', { calls: [task('inner')] }),
      told('inner', bash('touch inner')),
      told('right', bash('touch right')),
      told('inner', { text: ['inner done'] }),
      told('right', { text: ['right done'] }),
      told('left', { text: ['left done'] }),
      { text: ['Done.'] },
    ]);
    const watcher = await fixture.watcher();
    const turnId = fixture.begin('go');
    const answered = ['touch inner', 'touch right'].map(async (command) => {
      const asked = await question(watcher, command);
      allow(watcher, asked);
      return asked.chat;
    });
    const asked = await Promise.all(answered);
    expect(textIn((await fixture.finished(turnId)).responseParts)).toBe('Done.');
    const workers = await workersOf(watcher, fixture.uri);
    const seen = ['left', 'inner', 'right'].map((name) => {
      const turn = lastTurn(workers.get(`${name} work`));
      return [turn.state, callsOf(turn), wordsOf(turn)];
    });
    expect(seen).toEqual([
      ['complete', ['task completed'], 'left done'],
      ['complete', ['bash completed'], 'inner done'],
      ['complete', ['bash completed'], 'right done'],
    ]);
    const chats = ['inner', 'right'].map((name) => workers.get(`${name} work`)?.resource);
    expect(asked).toEqual(chats);
    expect(workers.get('inner work')?.origin).toMatchObject({ chat: workers.get('left work')?.resource });
  });

  it('may work in the background, and be told more in a later turn: each time in a chat', async () => {
    const fixture = await CopilotFixture.open([
      { calls: [task('back', 'background')] },
      { to: toldTo('back'), text: ['first'] },
      { text: ['Waiting.'] },
      { text: ['Done.'] },
    ]);
    const watcher = await fixture.watcher();
    await fixture.turn('go');
    const first = lastTurn((await workersOf(watcher, fixture.uri)).get('back work'));
    expect([first.state, wordsOf(first)]).toEqual(['complete', 'first']);
    const agent_id = /agent_id: ([\w-]+)/.exec(fixture.heard())?.[1];
    // Copilot is told that a sub-agent is done at once or when it has ended its answer, and then asks once more.
    fixture.copilot.server.forget();
    fixture.copilot.server.answer(
      call('write_agent', { agent_id, message: 'do it again' }),
      { to: `${CLOCK}do it again`, ...bash('touch again') },
      { to: `${CLOCK}do it again`, text: ['second'] },
      { text: ['Waiting.'] },
      { text: ['Done.'] },
    );
    const turnId = fixture.begin('more');
    const asked = await question(watcher, 'touch again');
    allow(watcher, asked);
    expect(textIn((await fixture.finished(turnId)).responseParts)).toContain('Waiting.');
    const second = lastTurn(await watcher.state<ChatState>(asked.chat));
    expect([second.state, second.message.text, wordsOf(second)]).toEqual(['complete', 'do it again', 'second']);
    expect((await workersOf(watcher, fixture.uri)).size).toBe(2);
  });

  it('are stopped by a person: the agent that started them goes on', async () => {
    const fixture = await CopilotFixture.open([
      { calls: [task('slow')] },
      { text: ['well'], ending: 'hang' },
      { text: ['Then not.'] },
    ]);
    const watcher = await fixture.watcher();
    const turnId = fixture.begin('go');
    const worker = await spokenIn(watcher, fixture.uri);
    const id = (await watcher.state<ChatState>(worker)).activeTurn?.id;
    watcher.dispatch(worker, { type: 'chat/turnCancelled', turnId: id, duration: 1 } as never);
    const turn = await fixture.finished(turnId);
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Then not.']);
    expect(lastTurn(await watcher.state<ChatState>(worker))).toMatchObject({ state: 'cancelled' });
    expect(fixture.copilot.server.aborted).toBe(1);
  });

  it('[REL-034] end with the turn that they work for, with the runtime, and with the host', async () => {
    const slow = [{ calls: [task('slow')] }, { text: ['well'], ending: 'hang' as const }];
    const fixture = await CopilotFixture.open([...slow, ...slow, ...slow]);
    const watcher = await fixture.watcher();
    const ends: unknown[] = [];
    for (const end of ['cancel', 'runtime', 'host'] as const) {
      const turnId = fixture.begin('go');
      const worker = await spokenIn(watcher, fixture.uri, ends.length + 1);
      if (end === 'cancel') fixture.dispatch({ type: 'session/turnCancelled', turnId });
      if (end === 'runtime') for (const pid of await fixture.copilot.pids()) process.kill(pid, 'SIGKILL');
      if (end === 'host') {
        const reader = await fixture.crash();
        ends.push(lastTurn(await reader.state<ChatState>(worker)).state);
      } else {
        const { state } = await fixture.finished(turnId);
        await watcher.action(worker, 'chat/turnCancelled');
        ends.push([state, lastTurn(await watcher.state<ChatState>(worker)).state]);
      }
    }
    expect(ends).toEqual([['cancelled', 'cancelled'], ['error', 'cancelled'], 'error']);
  });
});

/** The chat of the newest of so many workers, which has said something. */
async function spokenIn(watcher: RawClient, uri: string, workers = 1): Promise<string> {
  const added = () => watcher.envelopes(uri).filter(({ action }) => action.type === 'session/chatAdded');
  await watcher.until(() => added().length === workers, WAIT_MAX_MS);
  const resource =
    added()
      .map(({ action }) => (action as unknown as { summary: { resource: string } }).summary.resource)
      .at(-1) ?? '';
  const { activeTurn } = await watcher.state<ChatState>(resource);
  if (!activeTurn?.responseParts.length) await watcher.action(resource, 'chat/responsePart');
  return resource;
}
