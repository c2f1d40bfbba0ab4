/** The chat of a sub-agent that an agent runs itself: opened for a call, ended when the agent says so. */
import { AgentError, type AgentTurn } from '@atrium/core/contracts/agent.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import type { ToolResultContent } from '@atrium/protocol/ahp-1';

/** The task of a sub-agent. */
export interface Task {
  readonly title: string;
  readonly prompt: string;
}

export interface SubAgentChat {
  /** Content for the result of the call, so that people find the chat. */
  readonly shown: ToolResultContent;
  /** The turn of the chat. Rejects when the chat ends before the turn has begun. */
  readonly turn: Promise<AgentTurn>;
  /** Ends the sub-agent; with a reason, it has failed. */
  end(failure: string | undefined): void;
  /** Settles when the turn of the chat is over. */
  readonly ended: Promise<unknown>;
}

/** Reads the task from the input of the call that starts a sub-agent. */
export function taskIn(input: unknown, name: string): Task {
  const { description, prompt } = isRecord(input) ? input : {};
  const title = typeof description === 'string' && description !== '' ? description : name;
  return { title, prompt: typeof prompt === 'string' && prompt !== '' ? prompt : title };
}

/** Opens the chat of a sub-agent; undefined when it can have none, for example because nobody could answer in it. */
export function openSubAgentChat(parent: AgentTurn, toolCallId: string, task: Task): SubAgentChat | undefined {
  let begin: (turn: AgentTurn) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const turn = new Promise<AgentTurn>((resolve, reject) => {
    begin = resolve;
    fail = reject;
  });
  turn.catch(() => {});
  let end: SubAgentChat['end'] = () => {};
  const over = new Promise<void>((resolve, reject) => {
    end = (failure) => (failure === undefined ? resolve() : reject(new AgentError('sub-agent', failure)));
  });
  over.catch(() => {});
  const run = async (own: AgentTurn) => {
    begin(own);
    await untilAborted(own.signal, over);
  };
  try {
    const { chat, ended } = parent.openWorker({ toolCallId, ...task, run });
    void ended.then(() => fail(new Error('the sub-agent is over')));
    return { shown: { type: 'subagent', resource: chat, title: task.title }, turn, end, ended };
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}
