/**
 * An extension adds to a live session: a plugin, an MCP server, a provider. Tool calls, the prompt and turns ask all
 * extensions alike, and know nothing else about them.
 */
import type { AgentSelection } from '@atrium/protocol/ahp-1';
import type { ToolOutcome } from './agent.js';
import type { HostTool, ToolOutput } from './tool.js';

/** The host reads every member anew each time it needs it, so what an extension offers may change at any moment. */
export interface Extension {
  /** Unique in the session. */
  readonly id: string;
  /** As people know it: "ci-watcher". */
  readonly name: string;
  readonly tools?: readonly HostTool[];
  readonly gates?: readonly Gate[];
  /**
   * Says which tools, of any owner, the model must not be told of now, in a turn of this chat. They can still be called: only
   * gates stop calls.
   */
  hidden?(chat: string): (toolName: string) => boolean;
  readonly prompt?: PromptContribution;
  /** Resolves when everything that is starting for the session has started. A turn waits for that before it asks extensions. */
  untilReady?(): Promise<void>;
  /** A turn is about to begin. Called once per turn, before the agent gets it. */
  beforeTurn?(turn: TurnOpening, signal: AbortSignal): Promise<TurnAdvice | undefined>;
  /** The agent has finished a turn. A reason sends the agent on: it gets the reason, and the turn continues. */
  beforeEnd?(ending: TurnEnding, signal: AbortSignal): Promise<string | undefined>;
  /** A worker is about to begin, in a chat of its own. Context is for the worker; nothing stops it here. */
  beforeWorker?(worker: WorkerTurn, signal: AbortSignal): Promise<TurnAdvice | undefined>;
  /** A worker has finished. A reason sends it on, unless the agent runs it by itself. */
  beforeWorkerEnd?(ending: WorkerEnding, signal: AbortSignal): Promise<string | undefined>;
  /** Wraps a call that the host runs, after gates and people agreed: calls `run` once, and returns its output. */
  around?(call: GateCall, run: () => Promise<ToolOutput>): Promise<ToolOutput>;
  /** A call that the agent or a client runs may run now. Called again after a person was asked. */
  outsideCallBegins?(call: GateCall): Promise<void>;
  /** That call is over. Not called when the turn ended first. */
  outsideCallEnds?(call: GateCall): Promise<void>;
  /** A call is over. A note goes to the model with the result. */
  afterCall?(call: GateCall, outcome: ToolOutcome, signal: AbortSignal): Promise<string | undefined>;
}

/** Checks every call before it runs. A gate that throws, or does not answer in time, denies the call. */
export interface Gate {
  /** As people know it: "ci-watcher". */
  readonly name: string;
  /** The gate answers at once, from rules alone; such gates are asked first. */
  readonly isStatic?: boolean;
  /** How long `check` may take; by default as long as all gates together. */
  readonly timeoutMs?: number;
  /** Whether the gate checks this call. Must be quick. */
  concerns(call: GateCall): boolean;
  check(call: GateCall, signal: AbortSignal): GateVerdict | Promise<GateVerdict>;
}

export interface GateCall {
  readonly session: string;
  /** The chat that the turn is in. */
  readonly chat: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** The extension whose tool it is. */
  readonly owner?: string;
  readonly workingDirectory?: string;
  /** All folders that the call may work in. */
  readonly workingDirectories?: readonly string[];
}

export type GateVerdict =
  /** No objection; that is not a permission. The note goes to the model and to people. */
  | { readonly kind: 'pass'; readonly note?: string }
  /** A person must be asked, even if the tool does not ask or is allowed for good. */
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string };

export interface TurnOpening {
  /** The chat that the turn is in. */
  readonly chat: string;
  readonly turnId: string;
  readonly text: string;
  /** The text looks like a command, but a person has said that it is none. */
  readonly isLiteral?: boolean;
  readonly agent: AgentSelection | undefined;
  /** Whether the session has had no turn before. */
  readonly isFirst: boolean;
}

export interface TurnEnding {
  readonly turnId: string;
  /** Whether the agent was sent on in this turn already. */
  readonly wasContinued: boolean;
}

/** The turn of a worker, which works for a tool call. */
export interface WorkerTurn {
  /** Its chat. */
  readonly chat: string;
  readonly turnId: string;
  /** What it is called. */
  readonly title: string;
}

export interface WorkerEnding extends WorkerTurn {
  /** Whether it was sent on already. */
  readonly wasContinued: boolean;
  /** What it said last. */
  readonly said: string;
}

export interface TurnAdvice {
  /** For the model only, beside the message. */
  readonly context?: string;
  /** For people only, shown at the head of the turn. */
  readonly note?: string;
  /** The message must not reach the agent, and why. */
  readonly blocked?: string;
}

/** What an extension adds to the system prompt, by stage. */
export interface PromptContribution {
  /** Always-on text for `custom_instructions`, and the words of a selected agent. */
  rules?(render: RenderFacts): readonly string[];
  readonly transforms?: readonly StaticTransform[];
  readonly callbacks?: readonly SectionCallback[];
}

export interface RenderFacts {
  readonly agent: AgentSelection | undefined;
  readonly text: string;
  /** The files of the turn: attached, or named in calls so far. Paths relative to the folder, or absolute. */
  readonly files: readonly string[];
}

export interface StaticTransform {
  readonly section: string;
  readonly action: 'replace' | 'prepend' | 'append';
  readonly content: string;
}

/** Asked once per turn for each of its sections. No answer leaves the text as it is. */
export interface SectionCallback {
  readonly section: string;
  transform(content: string, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * The id of a provider among the extensions and customizations of a session. Clients publish customizations there, too,
 * under ids of their choice; the host refuses those that begin with this.
 */
export const PROVIDER_ID_PREFIX = 'gateway-provider:/';

/** Whether an extension is a provider of the gateway, by its id. */
export function isProviderId(id: string): boolean {
  return id.startsWith(PROVIDER_ID_PREFIX);
}
