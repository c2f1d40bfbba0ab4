/** `/terminal`: into the terminal in which the agent's command runs, and back with Ctrl+]. */
import type { SessionState } from '@atrium/protocol';
import { callsIn } from '../../sessions/turns.js';
import { attachTo } from '../../terminals/attach.js';
import { findTerminal, terminalsOf } from '../../terminals/terminals.js';
import { terminalIn } from '../live-terminals.js';
import type { Room, Task } from './room.js';

/** Without a name: where a command of the agent runs now, or else the last terminal of this session. */
export function terminal(name: string): Task {
  return async (room) => {
    const uri = await chosen(room, name);
    if (uri === undefined)
      return room.note('No command of this session has a terminal. One of your own: atrium terminals new');
    await room.away(() => attachTo(room.client, uri));
  };
}

async function chosen(room: Room, name: string): Promise<string | undefined> {
  if (name !== '') return findTerminal(await terminalsOf(room.client), name).resource;
  const running = runningTerminal(room.session.state);
  if (running !== undefined) return running;
  const terminals = await terminalsOf(room.client);
  return terminals.findLast(({ claim }) => claim.kind === 'session' && claim.session === room.session.uri)?.resource;
}

function runningTerminal({ activeTurn }: SessionState): string | undefined {
  return callsIn(activeTurn)
    .flatMap((call) => (call.status === 'running' ? (terminalIn(call) ?? []) : []))
    .at(-1);
}
