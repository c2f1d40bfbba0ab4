/** The lines between `ssh://` addresses and `atrium bridge`: one message in each, none longer than a message may be. */
import type { Readable } from 'node:stream';

/** The line before the first message: the shell of the other machine may have printed lines of its own before it. */
export const BRIDGE_READY = 'ATRIUM-BRIDGE 1';
/** A whole session can be one message. */
export const LINE_MAX_BYTES = 512 * 2 ** 20;
const LINE_FEED = 0x0a;

export async function* lines(input: Readable, maxBytes: number = LINE_MAX_BYTES): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      yield Buffer.concat([...pieces, rest.subarray(0, end)]).toString();
      [pieces, bytes] = [[], 0];
      rest = rest.subarray(end + 1);
    }
    pieces.push(rest);
    bytes += rest.length;
    if (bytes > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`);
  }
}
