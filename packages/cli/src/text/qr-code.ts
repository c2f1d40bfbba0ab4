/** A QR code for a terminal: two rows of it in each line, dark on light whatever the colours of the terminal are. */

import { io } from '../io.js';
import { styleFor } from './style.js';

/** The library draws the light squares. */
const LIGHT_ON_DARK = '\u001b[97;40m';
const RESET = '\u001b[0m';
const BORDER_MODULES = 2;

export async function qrCode(text: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr');
  const lines = renderUnicodeCompact(text, { border: BORDER_MODULES }).split('\n');
  const { stdout, env } = io();
  if (styleFor(stdout, env).bold('x') === 'x') return lines.join('\n');
  return lines.map((line) => `${LIGHT_ON_DARK}${line}${RESET}`).join('\n');
}
