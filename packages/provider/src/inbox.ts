/** Hands each message of the gateway to the part that handles it. Ignores unknown messages. */

import type { Log, PendingById } from '@atrium/link';
import type {
  ProviderErrorMessage,
  ProviderStreamHistoryMessage,
  ToGatewayMessage,
  ToProviderMessage,
} from '@atrium/protocol/provider';
import { describeProblem } from '@atrium/protocol/validation';
import type { Authentication } from './authentication.js';
import { readMessage } from './defaults.js';
import { ProviderError } from './errors.js';
import type { HelloExchange, SessionChooser } from './hello.js';
import { gateAnswer, transformAnswer } from './hooks.js';
import type { Registration } from './registration.js';
import type { Handlers, SessionEvents } from './session-events.js';
import type { ToolCalls } from './tools.js';
import { failRequest, type Updates } from './updates.js';

/** How much of an invalid message a log line shows. */
const LOGGED_MAX_CHARACTERS = 200;

interface InboxOptions {
  readonly on: Handlers;
  readonly log: Log;
  readonly registration: { readonly current: Registration };
  readonly authentication: Authentication;
  readonly hello: HelloExchange;
  readonly calls: ToolCalls;
  readonly events: SessionEvents;
  readonly sessions: SessionChooser;
  readonly updates: Updates;
  readonly queries: PendingById<string, ProviderStreamHistoryMessage['streams']>;
  send(message: ToGatewayMessage): void;
}

export class Inbox {
  readonly #options: InboxOptions;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  receive(text: string): void {
    const message = readMessage(text);
    if (message.ok) return this.#take(message.value);
    const what = `ignored a message of the gateway: ${describeProblem(message.problem)}`;
    this.#options.log(what, text.slice(0, LOGGED_MAX_CHARACTERS));
  }

  #take(message: ToProviderMessage): void {
    const { authentication, hello, calls, events, sessions, updates, queries, registration, log } = this.#options;
    const { rules, transforms } = registration.current;
    authentication.take(message);
    hello.take(message);
    switch (message.type) {
      case 'tool.call':
        return void calls.call(message);
      case 'tool.cancel':
        return calls.cancel(message);
      case 'gate.check':
        return this.#reply(gateAnswer(rules?.gates ?? [], message, log));
      case 'transform.request':
        return this.#reply(transformAnswer(transforms?.[message.section], message, log));
      case 'session.event':
        return events.event(message);
      case 'session.lifecycle':
        return events.lifecycle(message);
      case 'sessions.updated':
        return sessions.isEverywhere ? events.updated(message.active) : undefined;
      case 'ack':
        return updates.acknowledged(message);
      case 'stream.history':
        return void queries.succeeded(message.queryId, message.streams);
      case 'error':
        return this.#refused(message);
    }
  }

  #reply(answer: Promise<ToGatewayMessage>): void {
    void answer.then((message) => this.#options.send(message));
  }

  /**
   * Rejects the request that the error names. Authentication and hello handle their own errors; `on.error` gets the
   * rest.
   */
  #refused({ code, message, replyTo, requestId, sessionId }: ProviderErrorMessage): void {
    if (replyTo === 'hello' || replyTo?.startsWith('auth')) return;
    const { updates, queries, on, log } = this.#options;
    const error = new ProviderError(code, message, { replyTo, sessionId });
    const refusal = { requestId, replyTo };
    if (updates.refused(refusal, error) || failRequest(queries, refusal, error)) return;
    try {
      if (on.error) on.error(error);
      else log(error.message);
    } catch (failure) {
      log('the error handler threw', failure);
    }
  }
}
