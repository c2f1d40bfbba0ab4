/**
 * Shows a pairing code to the people in a session, as a question to them: user-facing state, which no agent and no
 * provider reads.
 */
import type { CodeNotice } from './pairing.js';
import type { Room } from './room.js';

/** The returned function takes the notice away. */
export function showCode({ session }: Room, { name, code, declined }: CodeNotice): () => void {
  const { core } = session.parts;
  const who = name === undefined ? 'A local provider' : `A local provider '${name}'`;
  const message = `${who} asks for access. Type this code there: ${code.slice(0, 3)} ${code.slice(3)}`;
  // Nobody looks, or nobody can be asked: then the host's own console is where people would look next.
  if (!core.isWatched(session.uri) || !core.mayBeAnswered(session.uri))
    core.logger.log('warn', message, { session: session.uri });
  const request = { id: `pair-${crypto.randomUUID()}`, message, questions: [] };
  return session.standing.ask(request, (response) => {
    if (response !== 'accept') declined();
  });
}
