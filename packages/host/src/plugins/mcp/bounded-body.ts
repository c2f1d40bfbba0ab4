/** Looks after the body of an answer: it has an end, or its events have, and somebody hears when it breaks off. */
import { EventGauge } from '../../core/util/event-gauge.js';
import { MCP_MESSAGE_MAX_BYTES } from './limits.js';

export interface BodyWatch {
  tooLong(): void;
  brokenOff(): void;
  /** The server closed it in good order. */
  complete(): void;
}

export function withBoundedBody(response: Response, watch: BodyWatch): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  return new Response(ReadableStream.from(bounded(body, gaugeFor(headers), watch)), { status, statusText, headers });
}

type Gauge = (chunk: Uint8Array) => number;

function gaugeFor(headers: Headers): Gauge {
  if (headers.get('content-type')?.toLowerCase().startsWith('text/event-stream')) {
    const events = new EventGauge();
    return (chunk) => events.push(chunk);
  }
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    return bytes;
  };
}

async function* bounded(body: AsyncIterable<Uint8Array>, gauge: Gauge, watch: BodyWatch): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      if (gauge(chunk) > MCP_MESSAGE_MAX_BYTES) {
        watch.tooLong();
        throw new Error('The server sent a message that is too long.');
      }
      yield chunk;
    }
  } catch (error) {
    watch.brokenOff();
    throw error;
  }
  watch.complete();
}
