/**
 * What the host does, for those who want to watch it from outside. Rooms say what they do as spans, measures and log
 * records; what nobody listens to costs a comparison and nothing else. Prompt text, tool input and tokens are never said.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/util/clock.js';
import type { Logger } from '../core/util/logger.js';
import { Batches, now, type Signal, type Sink } from './batches.js';
import type { Attributes } from './otlp.js';
import { cut, cutAll, kindOf, withoutCodes, withoutIds } from './sayable.js';

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface Span {
  /** Undefined when nobody listens. */
  readonly context: SpanContext | undefined;
  end(outcome?: { readonly error?: string; readonly attributes?: Attributes }): void;
}

/** Names of attributes by which everything that belongs together is found. */
const SESSION = 'ahp.session.id';
const CALL = 'ahp.tool_call.id';

const NO_SPAN: Span = { context: undefined, end: () => {} };

export interface TelemetryOptions {
  readonly clock: Clock;
  readonly serviceName?: string;
}

export class Telemetry {
  readonly #batches: Batches;
  /** What is going on, by session or by session and call: what happens there belongs to it. */
  readonly #contexts = new Map<string, SpanContext>();

  constructor({ clock, serviceName = 'atrium' }: TelemetryOptions) {
    this.#batches = new Batches(clock, { 'service.name': serviceName, 'process.pid': process.pid });
  }

  addSink(sink: Sink): void {
    this.#batches.addSink(sink);
  }

  hears(signal: Signal): boolean {
    return this.#batches.isWanted(signal);
  }

  /** Its parent is what is going on in the session, or in the call, that the attributes name. */
  span(name: string, attributes: Attributes): Span {
    if (!this.hears('traces')) return NO_SPAN;
    const parent = this.#parentOf(attributes);
    const context = { traceId: parent?.traceId ?? id(16), spanId: id(8) };
    const start = now();
    let isOpen = true;
    return {
      context,
      end: ({ error, attributes: more } = {}) => {
        if (!isOpen) return;
        isOpen = false;
        const whole = { ...attributes, ...more };
        const span = { ...context, parentSpanId: parent?.spanId, name, start, end: now(), attributes: whole };
        this.#batches.addSpan({ ...span, ...(error !== undefined && { error: cut(error) }) });
      },
    };
  }

  /**
   * A span around some work, and a measure of how long it took. Adds nothing when nobody listens. Of a failure only the
   * kind is said: its words may quote what was worked on.
   */
  around<T>(
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    failureIn: (result: T) => string | undefined = () => undefined,
  ): Promise<T> {
    if (!this.hears('traces') && !this.hears('metrics')) return work();
    const span = this.span(name, attributes);
    const start = now();
    const done = (error: string | undefined) => {
      span.end(error === undefined ? {} : { error });
      this.measure(`${name}.duration`, 'ms', now() - start, { ...attributes, error: error !== undefined });
    };
    return work().then(
      (result) => {
        done(failureIn(result));
        return result;
      },
      (error) => {
        done(kindOf(error));
        throw error;
      },
    );
  }

  /** Something that goes on for a while: what others say of the same session or call is part of it. */
  enter(attributes: Attributes, { context }: Span): void {
    if (context) this.#contexts.set(placeOf(attributes), context);
  }

  leave(attributes: Attributes): void {
    this.#contexts.delete(placeOf(attributes));
  }

  #parentOf(attributes: Attributes): SpanContext | undefined {
    const { [SESSION]: session } = attributes;
    return this.#contexts.get(placeOf(attributes)) ?? this.#contexts.get(placeOf({ [SESSION]: session }));
  }

  /** One more value of a distribution: how long, how many. */
  measure(name: string, unit: string, value: number, attributes: Attributes = {}): void {
    if (this.hears('metrics')) this.#batches.measure({ name, unit, attributes: withoutIds(attributes) }, value);
  }

  count(name: string, unit: string, by = 1, attributes: Attributes = {}): void {
    if (this.hears('metrics')) this.#batches.count({ name, unit, attributes: withoutIds(attributes) }, by);
  }

  /** A logger that says everything here too. */
  alongside(logger: Logger): Logger {
    return {
      hears: (level) => this.hears('logs') || (logger.hears?.(level) ?? true),
      log: (level, message, fields = {}) => {
        logger.log(level, message, fields);
        if (!this.hears('logs')) return;
        const shown = cut(withoutCodes(message));
        this.#batches.addRecord({ time: now(), severity: level, message: shown, attributes: cutAll(fields) });
      },
    };
  }

  /** Hands on what was gathered. */
  flush(): void {
    this.#batches.flush();
  }
}

function placeOf({ [SESSION]: session, [CALL]: call }: Attributes): string {
  return `${session} ${call ?? ''}`;
}

function id(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
