/** A process with an open Copilot session, to be killed by a test. Usage: copilot-child <home> <url>. */
import { copilotAgent } from '../../../agents/src/copilot/backend.js';
import { openSession } from './fake-turn.js';

const [home = '', baseUrl = ''] = process.argv.slice(2);
await openSession(copilotAgent({ home, models: [{ id: 'm-1', name: 'M 1' }], providerConfig: { baseUrl } }));
process.stdout.write('open\n');
process.stdin.resume();
process.stdin.on('end', () => process.exit());
