/** Our client library on a host in the same process. */
import type { Transport } from '@atrium/client';
import type { Host } from '../../src/host-options.js';
import { transportPair } from '../../src/wire/transports/in-process.js';

export function transportTo(host: Host): Transport {
  const [transport, end] = transportPair();
  host.connect(transport);
  return {
    send: (text) => end.send(text),
    close: () => end.close(),
    onMessage: (listener) => {
      end.onmessage = listener;
    },
    onClose: (listener) => {
      end.onclose = (code, reason) => listener({ code, reason });
    },
  };
}
