/**
 * Looks after the body of a model server's answer, before the SDK reads it: that keeps an event in memory until it is
 * complete, and an answer that is no stream until its end, however long that takes.
 */

import { AgentError } from '../../core/contracts/agent.js';
import { EventGauge } from '../../core/util/event-gauge.js';
import { sizeText } from '../../core/util/text.js';
import { ANSWER_EVENT_MAX_BYTES, ANSWER_MAX_BYTES } from './limits.js';

export interface BodyLimits {
  /** Of one event of a stream, and of an answer that is none. */
  readonly eventMaxBytes: number;
  /** Of a stream, in all. */
  readonly totalMaxBytes: number;
}

const LIMITS: BodyLimits = { eventMaxBytes: ANSWER_EVENT_MAX_BYTES, totalMaxBytes: ANSWER_MAX_BYTES };

export function boundedFetch(inner: typeof fetch): typeof fetch {
  return async (...request) => boundedAnswer(await inner(...request));
}

export function boundedAnswer(response: Response, limits = LIMITS): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
  const bounded = ReadableStream.from(isStream ? boundedEvents(body, limits) : boundedText(body, limits));
  return new Response(bounded, { status, statusText, headers });
}

type Body = AsyncIterable<Uint8Array>;

async function* boundedEvents(body: Body, { eventMaxBytes, totalMaxBytes }: BodyLimits): AsyncGenerator<Uint8Array> {
  const gauge = new EventGauge();
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (gauge.push(chunk) > eventMaxBytes) throw endless('one event of its answer', eventMaxBytes);
    if (total > totalMaxBytes) throw endless('its answer', totalMaxBytes);
    yield chunk;
  }
}

async function* boundedText(body: Body, { eventMaxBytes }: BodyLimits): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > eventMaxBytes) throw endless('its answer', eventMaxBytes);
    yield chunk;
  }
}

function endless(what: string, maxBytes: number): AgentError {
  const size = sizeText(maxBytes);
  return new AgentError('other', `The model's server was cut off: ${what} has more than ${size}. Look at its own log.`);
}
