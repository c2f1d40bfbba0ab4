/** Our client library on a host in the same process. */
import type { Transport } from '@atrium/client';
import { transportPair } from '@atrium/core/wire/transports/in-process.js';
import type { Host } from '../../src/host-options.js';

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
