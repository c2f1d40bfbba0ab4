// A client that rewrites the system prompt: it hides where the model works, and asks for rhymes. Prints the prompt then.
//   node examples/rewrite-the-prompt.mjs ws://127.0.0.1:<port>
// The token of the host, if it wants one, is read from ATRIUM_TOKEN.
import { randomUUID } from 'node:crypto';
import { connect } from '@atrium/client';

const [url] = process.argv.slice(2);
if (!url) throw new Error('usage: node rewrite-the-prompt.mjs <url>');

const client = await connect({
  url,
  token: process.env.ATRIUM_TOKEN,
  transformSystemMessage: {
    sections: ['tone', 'environment_context'],
    handler: ({ tone }) => ({ tone: `${tone} Answer in rhymes.`, environment_context: 'You work somewhere.' }),
  },
});

// Only active clients of a session are asked. The entry of this one carries the offer to rewrite.
const activeClient = { clientId: client.clientId, displayName: 'The rhymer', tools: [] };
const { chat } = await client.open(await client.createSession({ provider: 'offline', activeClient }));

const turnId = randomUUID();
chat.dispatch({ type: 'chat/turnStarted', turnId, message: { text: 'show the prompt' } });
for await (const { turns } of chat) {
  const turn = turns.find(({ id }) => id === turnId);
  if (!turn) continue;
  for (const part of turn.responseParts) if (part.kind === 'markdown') console.log(part.content);
  break;
}
client.close();
