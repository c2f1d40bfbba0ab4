/**
 * A receiver for webhooks of Atrium: prints what is genuine and new, and refuses the rest.
 *
 *   ATRIUM_SECRET=<secret> node examples/webhook/server.mjs [port]
 */
import { createServer } from 'node:http';
import { verifyWebhook } from './verify.mjs';

const BODY_MAX_BYTES = 64 * 1024;
const secret = process.env.ATRIUM_SECRET ?? '';
const port = Number(process.argv[2] ?? 8080);
/** A receiver that restarts would keep these in a file. */
const seen = new Set();

const server = createServer(async (request, response) => {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return response.writeHead(413).end();
    chunks.push(chunk);
  }
  const checked = verifyWebhook({ headers: request.headers, body: Buffer.concat(chunks), secret, seen });
  if (checked.ok) {
    const { kind, event, title, body = '' } = checked.message;
    console.log(`${kind} ${event}: ${title} ${body}`);
  }
  // A repeat was taken before: it gets the same answer, so that it is not sent once more.
  const isTaken = checked.ok || checked.reason === 'repeated';
  response.writeHead(isTaken ? 204 : 401).end();
});
server.listen(port, 'localhost', () => console.log(`http://localhost:${server.address().port}/`));
