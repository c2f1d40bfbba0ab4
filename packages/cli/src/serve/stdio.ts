/** One client, on standard input and output. When it is gone, there is nobody left to serve. */

import { type Host, type Logger, stdioTransport, type Transport } from '@atrium/host';
import { io } from '../io.js';
import type { OpenDoor } from './door.js';

export function openStdio(host: Host, logger: Logger): OpenDoor {
  const { transport, ended } = watched(stdioTransport({ input: io().stdin, output: io().stdout, logger }));
  host.connect(transport);
  return {
    ended,
    place: { at: 'stdio' },
    stopAccepting: () => {},
    close: async () => {
      io().stdin.destroy();
    },
  };
}

/** The host alone hears from a transport; this listens with it for the end. */
function watched(inner: Transport): { transport: Transport; ended: Promise<string> } {
  let end: (reason: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const transport: Transport = {
    name: inner.name,
    start(events) {
      const closed = (): void => {
        events.closed();
        end('the client is gone');
      };
      inner.start({ ...events, closed });
    },
    send: (frames) => inner.send(frames),
    ...(inner.sendPart && { sendPart: (part) => inner.sendPart?.(part) }),
    get bufferedBytes() {
      return inner.bufferedBytes;
    },
    close: (code, reason) => inner.close(code, reason),
  };
  return { transport, ended };
}
