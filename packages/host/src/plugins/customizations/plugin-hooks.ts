/**
 * The hooks of one container in a session: before and after calls, when turns and workers begin and end, and at the
 * start and end of the session.
 */
import type { ToolOutcome } from '@atrium/core/contracts/agent.js';
import type {
  Gate,
  GateCall,
  GateVerdict,
  TurnAdvice,
  TurnEnding,
  TurnOpening,
  WorkerEnding,
  WorkerTurn,
} from '@atrium/core/contracts/extension.js';
import { Pattern, tryPatterns } from '@atrium/core/util/patterns.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import type { HookCommand, HookEvent, HookPart } from '../formats/hook-declarations.js';
import {
  HOOK_RESPONSE_MAX_CHARACTERS,
  HOOK_TIMEOUT_MS,
  HOOKS_AT_ONCE,
  SESSION_END_TIMEOUT_MS,
} from '../formats/limits.js';
import type { Container } from './container.js';
import { type HookAnswer, type HookPlace, runHook } from './run-hook.js';
import { toolAliases } from './tool-aliases.js';

export interface HooksOptions extends Omit<HookPlace, 'name'> {
  /** The URI of the session. */
  readonly session: string;
  /** The container that has the hooks. */
  readonly container: Pick<Container, 'name'>;
}

/** A hook reaches its own time limit before its gate does, so that a slow hook does not count as an objection. */
const GATE_GRACE_MS = 5_000;

const NOT_DONE = 'a hook says that the work is not done';

type Runnable = HookPart & { readonly action: HookCommand };

export class Hooks {
  readonly #options: HooksOptions;
  /** The hooks that may run now. */
  #allowed: readonly HookPart[] = [];
  #hasStarted = false;
  /** Answers of hooks at the start of the session, which the next message takes to the model. */
  #atStart: readonly HookAnswer[] = [];

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** Allows these hooks and no others. */
  allow(hooks: readonly HookPart[]): void {
    this.#allowed = hooks;
  }

  /** One gate for each hook, because every hook has its own time limit. */
  get gates(): readonly Gate[] {
    return this.#of('PreToolUse').map((hook) => ({
      name: this.#options.container.name,
      timeoutMs: (hook.action.timeoutMs ?? HOOK_TIMEOUT_MS) + GATE_GRACE_MS,
      concerns: ({ toolName }) => isMatching(hook, toolSubjects(toolName)),
      check: async (call, signal) => verdictOf(await this.#run(hook, toolFields(call), signal)),
    }));
  }

  /** The answers of hooks to the start of the session and to the message. Text that they print is for the model. */
  async beforeTurn({ text, isFirst }: TurnOpening, signal: AbortSignal): Promise<TurnAdvice | undefined> {
    if (!this.#hasStarted) await this.#start(isFirst ? 'startup' : 'resume', signal);
    const submitted = await this.#runAll('UserPromptSubmit', { prompt: text }, { signal });
    signal.throwIfAborted();
    const objection = submitted.find(({ decision }) => decision === 'deny');
    if (objection)
      return { blocked: `${this.#options.container.name}: ${objection.reason || 'the message was blocked'}` };
    const context = [...this.#atStart, ...submitted].flatMap((answer) => answer.context ?? answer.text ?? []);
    this.#atStart = [];
    return context.length > 0 ? { context: context.join('\n\n') } : undefined;
  }

  /** A start that was cancelled with its turn does not count; the next turn runs the hooks again. */
  async #start(source: string, signal: AbortSignal): Promise<void> {
    const answers = await this.#runAll('SessionStart', { source }, { subject: source, signal });
    signal.throwIfAborted();
    this.#atStart = answers;
    // As long as no hook may run, the session has not started for them.
    this.#hasStarted = this.#allowed.length > 0;
  }

  async afterCall(call: GateCall, outcome: ToolOutcome, signal: AbortSignal): Promise<string | undefined> {
    const isGood = outcome.kind === 'completed' && outcome.success;
    const response = outcome.kind === 'completed' ? outcome.text.slice(0, HOOK_RESPONSE_MAX_CHARACTERS) : '';
    const fields = { ...toolFields(call), ...(isGood ? { tool_response: response } : { error: response }) };
    const event = isGood ? 'PostToolUse' : 'PostToolUseFailure';
    const answers = await this.#runAll(event, fields, { subject: call.toolName, signal });
    const notes = answers.flatMap(({ decision, reason, context }) => context ?? (decision === 'deny' ? reason : []));
    return notes.length > 0 ? notes.join('\n') : undefined;
  }

  /** The agent has reached the end of a turn. A hook that blocks the end says what is still to do. */
  async beforeEnd({ wasContinued }: TurnEnding, signal: AbortSignal): Promise<string | undefined> {
    return objectionIn(await this.#runAll('Stop', { stop_hook_active: wasContinued }, { signal }));
  }

  /** The answers of hooks to a worker that begins. They cannot stop it: gates are for that. */
  async beforeWorker(worker: WorkerTurn, signal: AbortSignal): Promise<TurnAdvice | undefined> {
    const answers = await this.#runAll('SubagentStart', workerFields(worker), { subject: worker.title, signal });
    const context = answers.flatMap((answer) => answer.context ?? answer.text ?? []);
    return context.length > 0 ? { context: context.join('\n\n') } : undefined;
  }

  /** A worker has reached its end. A hook that blocks the end says what is still to do. */
  async beforeWorkerEnd(ending: WorkerEnding, signal: AbortSignal): Promise<string | undefined> {
    const { wasContinued, lastText: context, title } = ending;
    const words = context.slice(0, HOOK_RESPONSE_MAX_CHARACTERS);
    const fields = { ...workerFields(ending), stop_hook_active: wasContinued, last_assistant_message: words };
    return objectionIn(await this.#runAll('SubagentStop', fields, { subject: title, signal }));
  }

  /** The end hooks run only in a session that was used. */
  async ended(): Promise<void> {
    if (!this.#hasStarted) return;
    this.#hasStarted = false;
    await this.#runAll('SessionEnd', { reason: 'other' }, { signal: AbortSignal.timeout(SESSION_END_TIMEOUT_MS) });
  }

  #of(event: HookEvent): readonly Runnable[] {
    return this.#allowed.filter((hook): hook is Runnable => hook.event === event && hook.action.kind === 'command');
  }

  async #runAll(
    event: HookEvent,
    fields: Readonly<Record<string, unknown>>,
    { subject, signal }: { readonly subject?: string; readonly signal: AbortSignal },
  ): Promise<readonly HookAnswer[]> {
    const subjects = subject === undefined ? [] : toolSubjects(subject);
    const concerned = this.#of(event).filter((hook) => isMatching(hook, subjects));
    const answers = await mapSome(concerned, HOOKS_AT_ONCE, (hook) => this.#run(hook, fields, signal));
    return answers.flatMap((answer) => answer ?? []);
  }

  #run(
    { action, event }: Runnable,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<HookAnswer | undefined> {
    const { session, container, folder } = this.#options;
    const common = { session_id: session, cwd: folder ?? '', hook_event_name: event };
    return runHook(action, { ...common, ...fields }, { ...this.#options, name: container.name, signal });
  }
}

function objectionIn(answers: readonly HookAnswer[]): string | undefined {
  const objections = answers.filter(({ decision, isHalt }) => decision === 'deny' && !isHalt);
  return objections.length === 0 ? undefined : objections.map(({ reason }) => reason || NOT_DONE).join('\n');
}

function workerFields({ chat, title }: WorkerTurn): Readonly<Record<string, unknown>> {
  return { agent_id: chat, agent_type: title };
}

function toolFields({ toolName, toolCallId, input }: GateCall): Readonly<Record<string, unknown>> {
  return { tool_name: toolName, tool_use_id: toolCallId, tool_input: input };
}

function verdictOf(answer: HookAnswer | undefined): GateVerdict {
  if (!answer) return { kind: 'pass' };
  const { decision, reason, context } = answer;
  if (decision === 'deny') return { kind: 'deny', reason: reason || 'a hook objected to this call' };
  if (decision === 'ask') return { kind: 'ask', reason: reason || 'a hook wants a person to look at this call' };
  return { kind: 'pass', ...(context !== undefined && { note: context }) };
}

/** Strangers write matchers, so they are evaluated within a budget. */
const patterns = new WeakMap<HookPart, Pattern>();

/** A matcher that takes too long counts as matching: its hook can still decide, and no check is skipped. */
export function isMatching(hook: HookPart, subjects: readonly string[]): boolean {
  if (hook.matcher === undefined || subjects.length === 0) return true;
  const pattern = patterns.get(hook) ?? new Pattern(hook.matcher);
  patterns.set(hook, pattern);
  return subjects.some((subject) => tryPatterns([pattern], subject)[0] !== 'no-match');
}

/** The tool's own name, and the names by which hooks for other hosts know it. */
function toolSubjects(toolName: string): readonly string[] {
  return [toolName, ...toolAliases(toolName)];
}
