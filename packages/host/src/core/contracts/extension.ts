/**
 * Whoever adds to a live session: a plugin, an MCP server, a provider. The broker and the prompt ask all of them alike,
 * and know nothing else about them.
 */
import type { AgentSelection } from '@atrium/protocol';
import type { ToolOutcome } from './agent.js';
import type { HostTool, ToolOutput } from './tool.js';

/** Everything is read anew each time it is needed, so what it offers may change at any moment. */
export interface Extension {
  /** Unique in the session. */
  readonly id: string;
  /** As people know it: "ci-watcher". */
  readonly name: string;
  readonly tools?: readonly HostTool[];
  readonly gates?: readonly Gate[];
  /** Which tools, whoever has them, the model is not to hear of now. That keeps nobody from calling them: gates do. */
  hidden?(): (toolName: string) => boolean;
  readonly prompt?: PromptContribution;
  /** Whoever is on the way to the session has come. A turn waits for that before anybody is asked about it. */
  untilReady?(): Promise<void>;
  /** A turn is about to begin. Runs once per turn, before the agent hears of it. */
  beforeTurn?(turn: TurnOpening, signal: AbortSignal): Promise<TurnAdvice | undefined>;
  /** The agent has come to the end of a turn. A reason sends it on: it is told, and the turn continues. */
  beforeEnd?(ending: TurnEnding, signal: AbortSignal): Promise<string | undefined>;
  /** Stands around a call that the host runs, once everybody agreed: it calls `run` once, and returns what that did. */
  around?(call: GateCall, run: () => Promise<ToolOutput>): Promise<ToolOutput>;
  /** A call that the agent itself, or a client, runs may run now. Said once more when a person was asked meanwhile. */
  outsideCallBegins?(call: GateCall): Promise<void>;
  /** That call is over. Not said where the turn ended first. */
  outsideCallEnds?(call: GateCall): Promise<void>;
  /** A call is over. A note goes to the model with the result. */
  afterCall?(call: GateCall, outcome: ToolOutcome, signal: AbortSignal): Promise<string | undefined>;
}

/** A look at every call before it runs. One that throws, or does not answer in time, has denied it. */
export interface Gate {
  /** Who asks, in words for people: "ci-watcher". */
  readonly name: string;
  /** Answers at once, from rules alone; such gates are asked first. */
  readonly isStatic?: boolean;
  /** How long it may take; by default as long as all gates together. */
  readonly timeoutMs?: number;
  /** Whether it has anything to do with this call. Must be quick. */
  concerns(call: GateCall): boolean;
  check(call: GateCall, signal: AbortSignal): GateVerdict | Promise<GateVerdict>;
}

export interface GateCall {
  readonly session: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** The extension whose tool it is. */
  readonly owner?: string;
  readonly workingDirectory?: string;
}

export type GateVerdict =
  /** No objection; that is not a permission. The note goes to the model and to people. */
  | { readonly kind: 'pass'; readonly note?: string }
  /** A person must be asked, whatever the tool itself says. */
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string };

export interface TurnOpening {
  readonly turnId: string;
  readonly text: string;
  readonly agent: AgentSelection | undefined;
  /** Whether the session has had no turn before. */
  readonly isFirst: boolean;
}

export interface TurnEnding {
  readonly turnId: string;
  /** Whether the agent was sent on in this turn already. */
  readonly isSentOn: boolean;
}

export interface TurnAdvice {
  /** For the model only, beside the message. */
  readonly context?: string;
  /** For people only, shown at the head of the turn. */
  readonly note?: string;
  /** The message must not reach the agent, and why. */
  readonly blocked?: string;
}

/** What it adds to the system prompt, by the stage at which it has its say. */
export interface PromptContribution {
  /** Always-on text for `custom_instructions`, and the words of a selected agent. */
  rules?(render: RenderFacts): readonly string[];
  readonly transforms?: readonly StaticTransform[];
  readonly callbacks?: readonly SectionCallback[];
}

export interface RenderFacts {
  readonly agent: AgentSelection | undefined;
  readonly text: string;
  /** Files that the turn has to do with: attached, or named in calls so far. Paths relative to the folder, or absolute. */
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
