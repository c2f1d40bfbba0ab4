/**
 * The model of a benchmark, in a process of its own: an HTTP server on loopback that answers streaming chat completions
 * as OpenAI does. It counts its tokens, writes them at a pace, and remembers when each was written.
 */
import { createServer } from 'node:http';
import { answer } from './helper.mjs';
import { paced, tokenText } from './tokens.mjs';

answer({ listen, plan, log });

let planned = { count: 1, perSecond: 200 };
/** For each streamed answer: when it was asked for, and when each token was written, in nanoseconds. */
let answers = [];

function listen() {
  const server = createServer(async (request, response) => {
    const asked = process.hrtime.bigint().toString();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === 'GET')
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model' }] }));
    const body = JSON.parse(Buffer.concat(chunks).toString());
    // Hosts ask for more than the answer, such as a title: those requests have no tools.
    if (body.stream && body.tools?.length > 0) return stream(response, asked);
    if (body.stream) return short(response);
    response.setHeader('content-type', 'application/json');
    const message = { role: 'assistant', content: 'A title' };
    response.end(
      JSON.stringify({
        ...chunk(),
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }),
    );
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port }));
  });
}

/** What the next answer will be. */
function plan(given) {
  planned = given;
  answers = [];
}

function log() {
  return answers;
}

async function stream(response, asked) {
  const { first = 1, count, perSecond } = planned;
  const write = begin(response);
  const noted = { asked, sent: [] };
  answers.push(noted);
  noted.sent = await paced({
    count,
    perSecond,
    step: (index) =>
      write({ choices: [{ index: 0, delta: { content: tokenText(first + index) }, finish_reason: null }] }),
  });
  end(response, write);
}

function short(response) {
  const write = begin(response);
  write({ choices: [{ index: 0, delta: { content: 'A title' }, finish_reason: null }] });
  end(response, write);
}

function begin(response) {
  response.setHeader('content-type', 'text/event-stream');
  const write = (more) => response.write(`data: ${JSON.stringify({ ...chunk(), ...more })}\n\n`);
  write({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] });
  return write;
}

function end(response, write) {
  write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  write({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } });
  response.end('data: [DONE]\n\n');
}

function chunk() {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench' };
}
