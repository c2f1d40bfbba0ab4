/**
 * An extension adds to a live session: a plugin, an MCP server, a provider. Tool calls, the prompt and turns ask all
 * extensions alike, and know nothing else about them.
 */
import type { AgentSelection } from '@atrium/protocol/ahp-1';
import type { ToolOutcome } from './agent.js';
import type { HostTool, ToolOutput } from './tool.js';

/** The host reads every member again each time it needs it, so an extension may change what it offers at any moment. */
export interface Extension {
  /** Unique in the session. */
  readonly id: string;
  /** The name that people know: "ci-watcher". */
  readonly name: string;
  /** It is a program with a connection to this host: another host has it only when it has connected there. */
  readonly isConnected?: true;
  readonly tools?: readonly HostTool[];
  readonly gates?: readonly Gate[];
  /**
   * Returns a test for tools, of any owner, that the model must not see now in this chat. They can still be called:
   * only gates stop calls.
   */
  hidden?(chat: string): (toolName: string) => boolean;
  readonly prompt?: PromptContribution;
  /**
   * Resolves when everything that is starting for the session has started. A turn waits for this before it asks
   * extensions.
   */
  untilReady?(): Promise<void>;
  /** Called once per turn, before the agent gets it. */
  beforeTurn?(turn: TurnOpening, signal: AbortSignal): Promise<TurnAdvice | undefined>;
  /**
   * Called when the agent has finished a turn. If it returns a reason, the agent gets the reason, and the turn
   * continues.
   */
  beforeEnd?(ending: TurnEnding, signal: AbortSignal): Promise<string | undefined>;
  /** Called when a worker is about to begin in its own chat. It may add context for the worker, but cannot stop it. */
  beforeWorker?(worker: WorkerTurn, signal: AbortSignal): Promise<TurnAdvice | undefined>;
  /** Called when a worker has finished. A reason makes it continue, unless its backend runs it by itself. */
  beforeWorkerEnd?(ending: WorkerEnding, signal: AbortSignal): Promise<string | undefined>;
  /** Wraps a call that the host runs, after gates and people agreed. It must call `run` once, and return the output. */
  around?(call: GateCall, run: () => Promise<ToolOutput>): Promise<ToolOutput>;
  /** Called when a call that the agent or a client runs may run. Called again after a person was asked. */
  outsideCallBegins?(call: GateCall): Promise<void>;
  /** Called when that call is over, unless the turn ended first. */
  outsideCallEnds?(call: GateCall): Promise<void>;
  /** Called when a call is over. The returned note goes to the model with the result. */
  afterCall?(call: GateCall, outcome: ToolOutcome, signal: AbortSignal): Promise<string | undefined>;
}

/** Checks every call before it runs. A gate that throws, or does not answer in time, denies the call. */
export interface Gate {
  /** The name that people know: "ci-watcher". */
  readonly name: string;
  /** The gate answers at once, from rules alone. Such gates are asked first. */
  readonly isStatic?: boolean;
  /** How long `check` may take. Default: as long as all gates together. */
  readonly timeoutMs?: number;
  /** Whether the gate checks this call. Must be quick. */
  concerns(call: GateCall): boolean;
  check(call: GateCall, signal: AbortSignal): GateVerdict | Promise<GateVerdict>;
}

export interface GateCall {
  readonly session: string;
  /** The chat of the turn. */
  readonly chat: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** The extension that offers the tool. */
  readonly owner?: string;
  readonly workingDirectory?: string;
  /** All folders in which the call may work. */
  readonly workingDirectories?: readonly string[];
}

export type GateVerdict =
  /** No objection, which is not yet permission. The note goes to the model and to people. */
  | { readonly kind: 'pass'; readonly note?: string }
  /** A person must be asked, even if the tool does not ask or is always allowed. */
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string };

export interface TurnOpening {
  /** The chat of the turn. */
  readonly chat: string;
  readonly turnId: string;
  readonly text: string;
  /** The text looks like a command, but a person said that it is not one. */
  readonly isLiteral?: boolean;
  readonly agent: AgentSelection | undefined;
  /** The session has had no turn before. */
  readonly isFirst: boolean;
}

export interface TurnEnding {
  readonly turnId: string;
  /** The agent was already made to continue in this turn. */
  readonly wasContinued: boolean;
}

/** The turn of a worker, which works for a tool call. */
export interface WorkerTurn {
  /** The worker's chat. */
  readonly chat: string;
  readonly turnId: string;
  /** The worker's title. */
  readonly title: string;
}

export interface WorkerEnding extends WorkerTurn {
  /** The worker was already made to continue. */
  readonly wasContinued: boolean;
  /** The last text that the worker said. */
  readonly lastText: string;
}

export interface TurnAdvice {
  /** For the model only, beside the message. */
  readonly context?: string;
  /** For people only, shown at the start of the turn. */
  readonly note?: string;
  /** Why the message must not reach the agent. */
  readonly blocked?: string;
}

/** What an extension adds to the system prompt, by stage. */
export interface PromptContribution {
  /** Text that always goes into `custom_instructions`, and the words of a selected agent. */
  rules?(render: RenderFacts): readonly string[];
  readonly transforms?: readonly StaticTransform[];
  readonly callbacks?: readonly SectionCallback[];
}

export interface RenderFacts {
  readonly agent: AgentSelection | undefined;
  readonly text: string;
  /** The files of the turn: attached, or named in calls so far. Paths are absolute, or relative to the folder. */
  readonly files: readonly string[];
}

export interface StaticTransform {
  readonly section: string;
  readonly action: 'replace' | 'prepend' | 'append';
  readonly content: string;
}

/** Called once per turn for each of its sections. Without an answer, the text stays as it is. */
export interface SectionCallback {
  readonly section: string;
  transform(content: string, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * The prefix of a provider's id among the extensions and customizations of a session. Clients publish customizations
 * there, too, under ids of their choice; the host refuses those with this prefix.
 */
export const PROVIDER_ID_PREFIX = 'gateway-provider:/';

/** True when an extension's id is that of a gateway provider. */
export function isProviderId(id: string): boolean {
  return id.startsWith(PROVIDER_ID_PREFIX);
}
