// Asks an agent something and prints its answer while it is being written.
//   node examples/client-in-30-lines.mjs ws://127.0.0.1:<port> "Why is the sky blue?"
// The token of the host, if it wants one, is read from ATRIUM_TOKEN.
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { connect } from '@atrium/client';

const [url, text = 'Hello!'] = process.argv.slice(2);
if (!url) throw new Error('usage: node client-in-30-lines.mjs <url> [text]');

const client = await connect({ url, token: process.env.ATRIUM_TOKEN });
const workingDirectories = [pathToFileURL(process.cwd()).href];
const { chat } = await client.open(await client.createSession({ workingDirectories }));
const turnId = randomUUID();
const accepted = chat.dispatch({ type: 'chat/turnStarted', turnId, message: { text } });
accepted.catch((error) => {
  console.error(error.message);
  chat.close();
});

let printed = 0;
for await (const { activeTurn, turns } of chat) {
  const turn = activeTurn?.id === turnId ? activeTurn : turns.find(({ id }) => id === turnId);
  const parts = turn?.responseParts.filter((part) => part.kind === 'markdown') ?? [];
  const answer = parts.map(({ content }) => content).join('\n\n');
  process.stdout.write(answer.slice(printed));
  printed = answer.length;
  if (turn && turn !== activeTurn) break;
}
process.stdout.write('\n');
client.close();
