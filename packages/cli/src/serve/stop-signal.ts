/** The user's wish to stop: the first signal asks, the second insists. */

import { ExitCode } from '../exit.js';
import { io } from '../io.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignal {
  /** Fulfilled with the name of the first signal. */
  readonly asked: Promise<string>;
  release(): void;
}

export function stopSignal(): StopSignal {
  let handler: (signal: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    let count = 0;
    handler = (signal) => {
      count += 1;
      if (count > 1) io().exit(ExitCode.Failed);
      resolve(signal);
    };
  });
  for (const name of SIGNALS) io().signals.on(name, handler);
  return {
    asked,
    release() {
      for (const name of SIGNALS) io().signals.off(name, handler);
    },
  };
}
