/** Imitates a server of chat completions. The path says how fast: /<milliseconds between tokens>/<tokens>/v1/chat/completions */
import http from 'node:http';
import { answer } from './helper.mjs';

const now = () => Number(process.hrtime.bigint()) / 1e6;
let lastRequest = 0;

const server = http.createServer(async (request, response) => {
  lastRequest = now();
  const start = lastRequest;
  const [, everyMs, tokens] = request.url.split('/').map(Number);
  for await (const _ of request);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let count = 0; count < tokens; count++) {
    if (everyMs > 0) await until(start + count * everyMs);
    if (!response.write(event({ content: 'token ' }))) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(`${event({}, 'stop')}data: [DONE]\n\n`);
});
const listening = new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

answer({
  async port() {
    await listening;
    return server.address().port;
  },
  /** When the last request came, by the clock that all processes share. */
  arrived: () => lastRequest,
});

function until(time) {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, time - now())));
}

function event(delta, finish_reason = null) {
  const chunk = { id: 'chat-1', object: 'chat.completion.chunk', created: 1, model: 'm-1' };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
