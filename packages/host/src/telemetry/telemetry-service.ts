/** Telemetry as a service of the host: spans of its sessions, channels for clients, and a collector if configured. */

import type { Attributes } from '@atrium/core/contracts/telemetry.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { StateAction } from '@atrium/protocol/ahp-1';
import { type ClientChannels, HttpExporter, TelemetryChannels } from './exporters.js';
import type { Span, Telemetry } from './telemetry.js';

export interface TelemetryChoice {
  /** A collector that accepts OTLP over HTTP, such as `http://127.0.0.1:4318`. */
  readonly endpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `atrium`. */
  readonly serviceName?: string;
}

interface TelemetryHost extends ClientChannels {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
}

export function createTelemetry(host: TelemetryHost, { endpoint, headers = {} }: TelemetryChoice): Service {
  const { clock, logger, telemetry } = host;
  const channels = new TelemetryChannels(host);
  telemetry.addSink(channels);
  const exporter = endpoint === undefined ? undefined : new HttpExporter({ endpoint, headers, clock, logger });
  if (exporter) telemetry.addSink(exporter);
  return {
    scheme: channels.scheme,
    greeting: channels.greeting,
    open: (uri) => channels.open(uri),
    unwatched: (uri) => channels.unwatched(uri),
    attach: (session) => new SessionSpans(session, telemetry),
    close: async () => {
      telemetry.flush();
      await exporter?.close();
    },
  };
}

interface OpenSpan {
  readonly span: Span;
  readonly since: number;
  readonly attributes: Attributes;
}

/**
 * Derives spans of turns and tool calls from the actions of a session, so that no other part of the host has to report
 * them.
 */
export class SessionSpans implements SessionObserver {
  /** By the URI of the chat. */
  readonly #chats = new Map<string, ChatSpans>();

  constructor(
    private readonly session: Pick<Session, 'uri' | 'state'>,
    private readonly telemetry: Telemetry,
  ) {}

  observe({ action, chat }: SessionStep): void {
    if (!chat) return;
    const known = this.#chats.get(chat.uri);
    if (!known?.isInTurn && !this.telemetry.hears('traces') && !this.telemetry.hears('metrics')) return;
    const spans = known ?? new ChatSpans(this.session, this.telemetry);
    this.#chats.set(chat.uri, spans);
    spans.observe(action);
  }

  async close(): Promise<void> {
    for (const spans of this.#chats.values()) spans.endTurn('cancelled');
  }
}

/** The spans of one chat. */
class ChatSpans {
  #turn: OpenSpan | undefined;
  readonly #calls = new Map<string, OpenSpan>();
  /** The tokens of the turn that the agent has reported so far. */
  readonly #tokens = new Map<'input' | 'output', number>();

  constructor(
    private readonly session: Pick<Session, 'uri' | 'state'>,
    private readonly telemetry: Telemetry,
  ) {}

  get isInTurn(): boolean {
    return this.#turn !== undefined;
  }

  observe(action: StateAction): void {
    switch (action.type) {
      case 'chat/turnStarted':
        this.#turn = this.#begin('atrium.turn', {
          'ahp.turn.id': action.turnId,
          'gen_ai.provider.name': this.session.state.provider,
        });
        return;
      case 'chat/toolCallStart':
        this.#calls.set(
          action.toolCallId,
          this.#begin('atrium.tool_call', {
            'ahp.turn.id': action.turnId,
            'ahp.tool_call.id': action.toolCallId,
            'gen_ai.tool.name': action.toolName,
          }),
        );
        return;
      case 'chat/toolCallConfirmed':
        if (!action.approved) this.#endCall(action.toolCallId, 'denied');
        return;
      case 'chat/toolCallComplete':
        this.#endCall(action.toolCallId, action.result.success ? undefined : 'failed');
        return;
      case 'chat/usage':
        this.#usage(action.usage.inputTokens, 'input');
        this.#usage(action.usage.outputTokens, 'output');
        return;
      case 'chat/turnComplete':
        return this.endTurn(undefined);
      case 'chat/turnCancelled':
      case 'chat/truncated':
        return this.endTurn('cancelled');
      case 'chat/error':
        return this.endTurn(action.part.error.errorType);
    }
  }

  #begin(name: string, attributes: Attributes): OpenSpan {
    const whole = { 'ahp.session.id': this.session.uri, ...attributes };
    const span = this.telemetry.span(name, whole);
    this.telemetry.enter(whole, span);
    return { span, since: performance.now(), attributes: whole };
  }

  #endCall(toolCallId: string, outcome: string | undefined): void {
    const call = this.#calls.get(toolCallId);
    this.#calls.delete(toolCallId);
    if (call) this.#end('atrium.tool_call', call, outcome);
  }

  /** The end of a turn also ends its calls. */
  endTurn(outcome: string | undefined): void {
    for (const id of [...this.#calls.keys()]) this.#endCall(id, 'cancelled');
    if (this.#turn) this.#end('atrium.turn', this.#turn, outcome);
    this.#turn = undefined;
    this.#tokens.clear();
  }

  #end(name: string, { span, since, attributes }: OpenSpan, outcome: string | undefined): void {
    span.end(outcome === undefined ? {} : { error: outcome });
    this.telemetry.leave(attributes);
    const measured = { ...attributes, outcome: outcome ?? 'ok' };
    this.telemetry.measure(`${name}.duration`, 'ms', performance.now() - since, measured);
  }

  /** Agents report the total of the turn so far; the difference is the usage of the last request. */
  #usage(soFar: number | undefined, kind: 'input' | 'output'): void {
    const tokens = (soFar ?? 0) - (this.#tokens.get(kind) ?? 0);
    if (tokens <= 0) return;
    this.#tokens.set(kind, soFar ?? 0);
    const provider = { 'gen_ai.provider.name': this.session.state.provider };
    this.telemetry.measure('gen_ai.client.token.usage', '{token}', tokens, { ...provider, kind });
  }
}
