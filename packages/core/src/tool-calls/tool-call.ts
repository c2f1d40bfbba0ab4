/**
 * The life of a tool call, written once for every kind of tool:
 *
 *   1. start       clients see that there is a call, and its input as the model writes it
 *   2. input       parsed, bounded, checked against the tool's schema
 *   3. gates       rules and the session's mode, then gates and hooks of extensions; one objection denies the call
 *   4. permission  a person decides if a rule, the tool or a gate asks for it; changed input goes through 2 and 3 again
 *   5. run         the part that differs: a `ToolRunner` runs the call on the host, or waits for the client that runs it
 *   6. completion  the bounded result becomes an action; what is too large for a session goes to the blob store
 *   7. notes       notes of gates and hooks go to the model with the result, and into the turn for people
 *
 * If its turn ends, a call throws out of its present stage. Calls that the agent runs itself go through the same stages,
 * but the agent decides when (`agent-run-calls.ts`).
 */
import {
  alwaysScope,
  type ChatState,
  type McpAuthRequirement,
  type ToolCallResult,
  type ToolCallState,
  type ToolDefinition,
  type ToolResultContent,
  type WritableScope,
} from '@atrium/protocol/ahp-1';
import type { Permit, ToolOutcome } from '../contracts/agent.js';
import type { GateCall } from '../contracts/extension.js';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '../contracts/tool.js';
import { errorText } from '../util/text.js';
import { OverdueError } from '../util/waiting.js';
import { boundedInput, parsedInput, readArguments } from './arguments.js';
import type { CallContext, CallDecision } from './call-context.js';
import { type Clearance, notifyExtensions, passGates, withNotes } from './gates.js';
import { outcomeForModel, outcomeOf, reasonOf } from './results.js';
import { assess } from './risk.js';
import { type CalledTool, type Denied, ShownCall } from './shown-call.js';

/** Which stages a kind of call goes through, and how. */
export interface Stages {
  /** `checked`: must be a JSON object that fits the tool's schema. `as-is`: anything that is not too long. */
  readonly input: 'checked' | 'as-is';
  /** Who waits for the person. `before-run`: the call; `within-run`: the runner; `on-request`: the agent says when. */
  readonly permission: 'before-run' | 'within-run' | 'on-request';
  /**
   * `around`: extensions wrap the run. `begin-and-end`: they are only told, because the host does not run the tool
   * itself.
   */
  readonly extensions: 'around' | 'begin-and-end';
  /** `cut`: the agent gets the beginning and the end of a long output. `whole`: the agent already has the output. */
  readonly output: 'cut' | 'whole';
}

/** Runs one kind of call. */
export interface ToolRunner {
  readonly stages: Stages;
  readonly inputSchema?: ToolDefinition['inputSchema'];
  /** Who runs the tool, for rules. Default: the agent. */
  readonly runs?: 'host' | 'other';
  /** The tool is marked as changing nothing. */
  readonly isReadOnly?: boolean;
  /** What people read about the call, and what the tool itself asks them. May throw. */
  describe(input: unknown): {
    readonly invocationMessage: string;
    readonly confirmation?: ToolConfirmation | undefined;
  };
  /** Looks ahead before a person is asked. */
  preview?(input: unknown): Promise<Preview | undefined>;
  run(call: ToolCall): Promise<Ran>;
  /** Called when the completion is stored, or the turn is over. */
  settled?(call: ToolCall): void;
}

/**
 * What the call would change; or its failed result, which ends it at once: a call that fails anyway is not worth a
 * question.
 */
export type Preview = Pick<ToolConfirmation, 'edits'> | { readonly failed: ToolCallResult };

/** `settled`: a client has completed the call itself. */
export type Ran = { readonly result: ToolCallResult } | { readonly settled: ToolCallState };

export class ToolCall {
  readonly #context: CallContext;
  readonly #stages: Stages;
  readonly #shown: ShownCall;
  #inputSchema: ToolDefinition['inputSchema'];
  #confirmation: ToolConfirmation | undefined;
  /** A gate wants a person to decide, even if the tool is always allowed. */
  #isAskedByGate = false;
  #gateCall: GateCall;
  readonly #notes: string[] = [];
  #permission: Promise<Permit> | undefined;
  /** The decision of rules and mode about the input that will run. */
  #decision: CallDecision | undefined;
  #runner: Pick<ToolRunner, 'runs' | 'isReadOnly'> = {};
  #option: string | undefined;
  #isChangedByPerson = false;

  /** Stage 1. */
  constructor(context: CallContext, tool: CalledTool, stages: Stages) {
    this.#context = context;
    this.#stages = stages;
    this.#gateCall = gateCallOf(context, tool);
    this.#shown = new ShownCall(context, tool);
  }

  get id(): string {
    return this.#shown.id;
  }

  get tool(): CalledTool {
    return this.#shown.tool;
  }

  /** The call as extensions see it, with the input that will run. */
  get gateCall(): GateCall {
    return this.#gateCall;
  }

  /** The option that the person chose. */
  get option(): string | undefined {
    return this.#option;
  }

  /** Shows more of the input as the model writes it. */
  delta(more: string): void {
    this.#shown.delta(more);
  }

  /** Stages 2 to 7. */
  async run(input: unknown, runner: ToolRunner): Promise<ToolOutcome> {
    const outcome = await this.#live(input, runner);
    return this.#stages.output === 'cut' ? outcomeForModel(this.#context, outcome) : outcome;
  }

  async #live(input: unknown, runner: ToolRunner): Promise<ToolOutcome> {
    const unusable = this.#takeInput(input, runner);
    if (unusable) return unusable;
    const clearance = await this.checkGates();
    // Meanwhile, the client that offers the tool may have been away for too long, which ends the call.
    const over = this.settledIn(this.#context.stored);
    if (over) return outcomeOf(over);
    if (clearance.kind === 'denied') return this.deny(clearance.reason);
    if (this.#stages.permission === 'before-run') {
      const failed = await this.#previewChanges(runner);
      if (failed) return this.#shown.completeUnrun(failed);
      const permit = await this.permission();
      if (permit.kind === 'denied') return permit;
      if (this.#stages.extensions === 'begin-and-end') await this.announceBegin();
    }
    return this.withNotes(await this.#runAndComplete(runner));
  }

  /** Stage 2. Returns an outcome if the input cannot be used. */
  #takeInput(input: unknown, runner: ToolRunner): Promise<ToolOutcome> | undefined {
    this.#inputSchema = runner.inputSchema;
    this.#runner = runner;
    if (this.#stages.input === 'as-is') {
      const problem = this.showInput(input, this.#shown.invocationMessage);
      if (problem !== undefined) return this.deny(problem);
    } else {
      const args = readArguments(input, runner.inputSchema);
      this.#shown.inputText = args.text;
      if ('problem' in args) return this.fail(args.problem, 'BAD_INPUT');
      this.#gateCall = { ...this.#gateCall, input: args.value };
    }
    try {
      const { invocationMessage, confirmation } = runner.describe(this.#gateCall.input);
      this.#shown.invocationMessage = invocationMessage;
      this.#confirmation = confirmation;
      return undefined;
    } catch (error) {
      this.#shown.invocationMessage = this.tool.displayName;
      return this.#shown.completeUnrun(failureOf(this.tool, error));
    }
  }

  /** Shows input that the host does not check. If it is too long, shows its beginning and returns the problem. */
  showInput(input: unknown, invocationMessage: string): string | undefined {
    const { text, problem } = boundedInput(input);
    this.#shown.inputText = text;
    this.#shown.invocationMessage = invocationMessage;
    this.#gateCall = { ...this.#gateCall, input: parsedInput(input) };
    return problem;
  }

  /** Stage 3. */
  async checkGates(): Promise<Clearance> {
    const held = this.#context.nextStep();
    if (held) await held;
    const asked = this.#decide();
    const { effect, reason = 'a rule forbids it' } = asked instanceof Promise ? await asked : asked;
    if (effect === 'deny') return { kind: 'denied', reason };
    const clearance = await passGates(this.#context, this.#gateCall, (names) => this.#shown.waitingFor(names));
    if (clearance.kind === 'denied') return clearance;
    this.#notes.push(...clearance.notes);
    // If a person has already been asked, the gate's wish is fulfilled.
    if (clearance.ask !== undefined && !this.#permission) {
      this.#isAskedByGate = true;
      this.#confirmation = questionOfGate(clearance.ask, this.#confirmation);
    }
    return clearance;
  }

  /** Decides by rules and mode, before the gates: gates can make a decision stricter, never looser. */
  #decide(): CallDecision | Promise<CallDecision> {
    const { permissions, workingDirectories: folders } = this.#context;
    const { runs = 'agent', isReadOnly = false } = this.#runner;
    const isAskedAnyway = this.#confirmation !== undefined && !this.#confirmation.isForPerson;
    const input = this.#gateCall.input;
    const asked = permissions.decide({ tool: this.tool, input, runs, isReadOnly, isAskedAnyway, folders });
    return asked instanceof Promise ? asked.then((decision) => this.#decided(decision)) : this.#decided(asked);
  }

  #decided(decision: CallDecision): CallDecision {
    this.#decision = decision;
    const { permission } = decision;
    this.#shown.permission =
      permission && this.#isChangedByPerson ? { ...permission, isChangedByPerson: true } : permission;
    // If a person has already been asked, the rule's wish is fulfilled.
    if (decision.effect === 'ask' && !this.#permission) {
      this.#isAskedByGate = true;
      this.#confirmation = questionOfGate(
        this.#confirmation?.title ?? `${this.#shown.invocationMessage}?`,
        this.#confirmation,
      );
    }
    return decision;
  }

  get isAskedByGate(): boolean {
    return this.#isAskedByGate;
  }

  /** Before stage 4: adds the expected changes to the question. Returns the result of a call that would fail anyway. */
  async #previewChanges(runner: ToolRunner): Promise<ToolCallResult | undefined> {
    if (!this.needsPerson) return undefined;
    const preview = await runner.preview?.(this.#gateCall.input);
    if (!preview) return undefined;
    if ('failed' in preview) return preview.failed;
    if (this.#confirmation) this.#confirmation = { ...this.#confirmation, ...preview };
    return undefined;
  }

  /** True when the call waits for a person before it runs. */
  get needsPerson(): boolean {
    return this.#confirmation !== undefined && !this.#isAllowed;
  }

  get #isAllowed(): boolean {
    return !this.#isAskedByGate && !this.#confirmation?.isForPerson && this.#decision?.effect === 'allow';
  }

  /** Sets what the agent wants to ask a person; has no effect once a person has been asked. */
  setConfirmation(confirmation: ToolConfirmation): void {
    if (!this.#permission) this.#confirmation = confirmation;
  }

  get hasAskedPermission(): boolean {
    return this.#permission !== undefined;
  }

  /** Stage 4, once per call. */
  permission(): Promise<Permit> {
    this.#permission ??= this.#askPerson();
    return this.#permission;
  }

  async #askPerson(): Promise<Permit> {
    // The agent may say only now what it wants to do, or say more than before.
    if (this.#confirmation && this.#stages.permission === 'on-request') {
      const { effect, reason = 'a rule forbids it' } = await this.#decide();
      if (effect === 'deny') return this.deny(reason);
    }
    this.ready();
    const stop = this.needsPerson ? this.#assess() : () => {};
    const answered = await this.#shown.answered().finally(stop);
    const id = 'selectedOption' in answered ? answered.selectedOption?.id : undefined;
    const always = alwaysScope(id);
    // The agent does not know the options that the host added.
    const chosen = id !== undefined && !always && { option: id };
    if (answered.status !== 'running') return { kind: 'denied', reason: reasonOf(answered), ...chosen };
    this.#option = id;
    if (id === ALLOW_IN_SESSION) this.#context.permissions.add(this.tool);
    if (always) await this.#writeRules(always);
    const { toolInput = this.#shown.inputText } = answered;
    // Input by reference cannot be edited in the answer.
    if (typeof toolInput !== 'string' || toolInput === this.#shown.inputText) return { kind: 'granted', ...chosen };
    const denied = await this.#takeChangedInput(toolInput);
    return denied ?? { kind: 'granted', input: this.#gateCall.input, ...chosen };
  }

  /** Stores rules. The person allowed this call in any case, so if that fails, a note says so and the call runs. */
  async #writeRules(scope: WritableScope): Promise<void> {
    const { permissions, workingDirectories, notify } = this.#context;
    try {
      await permissions.write(scope, 'allow', this.#decision?.proposes ?? [], workingDirectories);
    } catch (error) {
      notify(`The rule could not be stored: ${errorText(error)}`);
    }
  }

  /** Starts an assessment of exactly what the person is shown. */
  #assess(): () => void {
    const call = { toolName: this.tool.name, question: this.#confirmation?.title ?? '', input: this.#shown.inputText };
    return assess(this.#context, call, (assessment) => this.#shown.assessed(assessment));
  }

  /** Takes input that a person changed: the schema and the gates have not seen it. */
  async #takeChangedInput(text: string): Promise<Denied | undefined> {
    this.#shown.inputText = text;
    const args = readArguments(text, this.#inputSchema);
    if ('problem' in args) return this.deny(args.problem);
    this.#gateCall = { ...this.#gateCall, input: args.value };
    this.#isChangedByPerson = true;
    const clearance = await this.checkGates();
    if (clearance.kind === 'denied') return this.deny(clearance.reason);
    this.#shown.permissionChanged();
    return undefined;
  }

  /** Shows the call as running, or as waiting for a person. */
  ready(): void {
    const confirmation = this.#confirmation;
    if (confirmation && this.needsPerson)
      this.#shown.asking(withAlways(confirmation, this.#isAskedByGate ? undefined : this.#decision));
    else this.#shown.running(confirmation ? 'setting' : 'not-needed');
  }

  /** Stages 5 and 6. */
  async #runAndComplete(runner: ToolRunner): Promise<ToolOutcome> {
    try {
      return await this.complete(await runner.run(this));
    } finally {
      runner.settled?.(this);
    }
  }

  /** Tells extensions that a call which the host does not run itself begins. */
  announceBegin(): Promise<void> {
    return notifyExtensions(this.#context, (extension) => extension.outsideCallBegins?.(this.#gateCall));
  }

  announceEnd(): Promise<void> {
    return notifyExtensions(this.#context, (extension) => extension.outsideCallEnds?.(this.#gateCall));
  }

  /** Shows output while the call runs. It replaces earlier output. */
  progress(content: readonly ToolResultContent[]): void {
    this.#shown.progress(content);
  }

  /** Shows that the call's MCP server wants a person to sign in. */
  authRequired(auth: McpAuthRequirement): void {
    this.#shown.authRequired(auth);
  }

  /** Lets the call go on after a client has signed in. */
  authResolved(): void {
    this.#shown.authResolved();
  }

  /** Moves the call to another client, as a new call. Gates are not asked again. */
  moveTo(tool: CalledTool, question: ToolConfirmation | undefined): void {
    // If a gate asked for a person, that question stays.
    if (!this.#isAskedByGate) this.#confirmation = question;
    this.#shown.start(tool);
  }

  /** Stage 6. */
  async complete(ran: Ran): Promise<ToolOutcome> {
    if (this.#stages.extensions === 'begin-and-end') await this.announceEnd();
    return 'settled' in ran ? outcomeOf(ran.settled) : this.#shown.complete(ran.result);
  }

  /** Stage 7. */
  withNotes(outcome: ToolOutcome): Promise<ToolOutcome> {
    return withNotes(this.#context, this.#gateCall, { outcome, notes: this.#notes });
  }

  /** Denies a call that has not run: a rule or a person said no. */
  deny(reason: string): Promise<Denied> {
    return this.#shown.deny(reason);
  }

  /** Fails a call that cannot run. */
  fail(message: string, code?: 'NOT_FOUND' | 'BAD_INPUT'): Promise<ToolOutcome> {
    const { name, displayName } = this.tool;
    const pastTenseMessage = code === 'NOT_FOUND' ? `There is no tool ${name}` : `Could not use ${displayName}`;
    return this.#shown.completeUnrun({ success: false, pastTenseMessage, error: { message, ...(code && { code }) } });
  }

  /** The call, if it is over in this state. */
  settledIn(state: ChatState): ToolCallState | undefined {
    return this.#shown.settledIn(state);
  }
}

/** The question of a gate. A gate asks about this call only, so allowing the tool for the session is no answer. */
function questionOfGate(title: string, { options, ...confirmation }: Partial<ToolConfirmation> = {}): ToolConfirmation {
  const once = options?.filter(({ id }) => id !== ALLOW_IN_SESSION);
  return { ...confirmation, title, ...(once && { options: once }) };
}

/** Adds options that also write rules, after the plain yes. */
function withAlways(confirmation: ToolConfirmation, decision: CallDecision | undefined): ToolConfirmation {
  const { options } = confirmation;
  // Without options, clients show a plain yes and no.
  if (!options) return confirmation;
  // The tool's own option already offers a rule for the whole tool.
  const isTwice =
    decision?.proposes.every((rule) => !rule.includes('(')) && options.some(({ id }) => id === ALLOW_IN_SESSION);
  const always = (decision?.options ?? []).filter(({ id }) => !isTwice || alwaysScope(id) !== 'session');
  if (confirmation.isForPerson) return confirmation;
  const first = options.findIndex(({ kind }) => kind !== 'approve');
  const at = first < 0 ? options.length : first;
  return { ...confirmation, options: [...options.slice(0, at), ...always, ...options.slice(at)] };
}

function gateCallOf(context: CallContext, { toolCallId, name, owner }: CalledTool): GateCall {
  const { session, chat, turnId, workingDirectory, workingDirectories } = context;
  return {
    ...{ session, chat, turnId, toolCallId, toolName: name, input: undefined },
    ...(owner !== undefined && { owner }),
    ...(workingDirectory !== undefined && { workingDirectory, workingDirectories }),
  };
}

/** The result of a tool that failed: it does not end the turn. */
export function failureOf({ displayName }: Pick<CalledTool, 'displayName'>, error: unknown): ToolCallResult {
  const code = error instanceof OverdueError ? { code: 'TIMEOUT' } : {};
  return { success: false, pastTenseMessage: `${displayName} failed`, error: { message: errorText(error), ...code } };
}
