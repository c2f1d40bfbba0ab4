/** The prompts of one turn, with the facts and answers that they share. */
import type { AgentSelection, Message, ResponsePart, SessionActiveClient, ToolCallState } from '@atrium/protocol/ahp-1';
import type { AgentBackend } from '../contracts/agent.js';
import type { Extension, RenderFacts } from '../contracts/extension.js';
import type { Presence } from '../contracts/ports.js';
import type { TelemetryReports } from '../contracts/telemetry.js';
import type { Clock } from '../util/clock.js';
import { filePathOf, filesInInput } from '../util/input-files.js';
import type { Logger } from '../util/logger.js';
import type { Sections } from '../util/prompt-sections.js';
import { CallbackMemory } from './contributions.js';
import { RENDER_FILES_MAX } from './limits.js';
import { renderPrompt } from './prompt.js';
import type { SessionSection } from './session-sections.js';

/** What a prompt needs from its turn and its session. `core/sessions` implements it. */
export interface PromptContext {
  /** The URI of the session. */
  readonly session: string;
  /** Undefined when the host does not have the session's agent. */
  readonly backend: AgentBackend | undefined;
  readonly message: Message;
  readonly agent: AgentSelection | undefined;
  /** Aborts when the turn is over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: TelemetryReports;
  readonly clients: Pick<Presence, 'canAsk' | 'ask'>;
  extensions(): readonly Extension[];
  /** The parts of the answer so far. */
  responseParts(): readonly ResponsePart[];
  activeClients(): readonly SessionActiveClient[];
  /** Text that the client which created the session added to its prompt. */
  sessionSections(): readonly SessionSection[];
}

export class TurnPrompt {
  readonly #context: PromptContext;
  readonly #facts: TurnFacts;
  readonly #memory = new CallbackMemory();

  constructor(context: PromptContext) {
    this.#context = context;
    this.#facts = new TurnFacts(context.message, context.agent);
  }

  async render(pristine?: Sections, projectInstructions?: string): Promise<Sections> {
    const { session, backend, signal, clock, logger, telemetry, clients } = this.#context;
    if (!backend) return new Map();
    const activeClients = this.#context.activeClients();
    return renderPrompt({
      ...{ session, backend, pristine, projectInstructions, logger },
      extensions: this.#context.extensions(),
      sessionSections: this.#context.sessionSections(),
      facts: this.#facts.after(this.#context.responseParts()),
      turn: { memory: this.#memory, clock, signal, activeClients, clients, telemetry },
    });
  }
}

/** What rules may know of a turn: its message and its files. Each call's input is read once. */
export class TurnFacts {
  readonly #read = new Set<string>();
  readonly #files = new Set<string>();

  constructor(
    private readonly message: Message,
    private readonly agent: AgentSelection | undefined,
  ) {
    for (const attachment of message.attachments ?? [])
      if (attachment.type === 'resource' && 'uri' in attachment) {
        const file = filePathOf(attachment.uri);
        if (file !== undefined) this.#files.add(file);
      }
  }

  /** The facts after these parts of the answer. */
  after(parts: readonly ResponsePart[]): RenderFacts {
    for (const part of parts) if (part.kind === 'toolCall') this.#readCall(part.toolCall);
    return { agent: this.agent, text: this.message.text, files: [...this.#files].slice(-RENDER_FILES_MAX) };
  }

  #readCall(call: ToolCallState): void {
    if (call.status === 'streaming' || call.toolInput === undefined || this.#read.has(call.toolCallId)) return;
    this.#read.add(call.toolCallId);
    const input = typeof call.toolInput === 'string' ? parsed(call.toolInput) : {};
    for (const file of filesInInput(input)) this.#files.add(file);
  }
}

function parsed(input: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
