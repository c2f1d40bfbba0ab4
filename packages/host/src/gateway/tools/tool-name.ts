/** The name of a tool: people read it when they are asked whether it may run, so all of it must be there to see. */
import { GatewayErrorCode } from '@atrium/protocol/provider';
import { GatewayError } from '../gateway-error.js';

export const TOOL_NAME_MAX_CHARACTERS = 128;
/** What a terminal obeys, and what nobody sees. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}]/u;

export function checkToolName(name: string): void {
  if (name.length <= TOOL_NAME_MAX_CHARACTERS && !INVISIBLE.test(name)) return;
  const message = `a tool has a name of at most ${TOOL_NAME_MAX_CHARACTERS} characters, all of them visible: rename it`;
  throw new GatewayError(GatewayErrorCode.InvalidJson, message);
}
