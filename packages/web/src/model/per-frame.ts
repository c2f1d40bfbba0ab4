/** Runs work at most once per animation frame, however often it is requested. */

/** A hidden page gets no animation frames, so work runs after this time instead. */
const HIDDEN_DELAY_MS = 250;

export interface PerFrame {
  request(): void;
  cancel(): void;
}

export function perFrame(work: () => void): PerFrame {
  let cancel: (() => void) | undefined;
  const run = () => {
    cancel = undefined;
    work();
  };
  return {
    request() {
      cancel ??= document.visibilityState === 'hidden' ? later(run) : onFrame(run);
    },
    cancel() {
      cancel?.();
      cancel = undefined;
    },
  };
}

function onFrame(run: () => void): () => void {
  const handle = requestAnimationFrame(run);
  return () => cancelAnimationFrame(handle);
}

function later(run: () => void): () => void {
  const handle = setTimeout(run, HIDDEN_DELAY_MS);
  return () => clearTimeout(handle);
}
