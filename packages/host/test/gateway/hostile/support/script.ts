/** What the agent of a hostile session does: it calls the tool that it is told to, and says what came of it. */
import type { Script } from '../../../../../agents/src/scripted/script.js';

export const HOSTILE_SCRIPT: Script = {
  provider: 'caller',
  displayName: 'Caller',
  default: [{ callTool: { name: '${text}', input: { what: 'a'.repeat(40) } } }, { text: 'result: ${lastResult}' }],
};
