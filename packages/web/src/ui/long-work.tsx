/** Long work of the host: its progress, and a button that stops it. */
import type { CreationProgress } from '@atrium/client';
import { useEffect, useRef, useState } from 'react';
import { useHost } from '../host/context.js';

export interface LongWork {
  /** Undefined while nothing runs. */
  readonly progress: CreationProgress | undefined;
  run(method: string, params: object): Promise<unknown>;
  stop(): void;
}

/** Only the button stops the work; closing the dialog does not. */
export function useLongWork(): LongWork {
  const { client } = useHost();
  const [progress, setProgress] = useState<CreationProgress>();
  const stopping = useRef<AbortController>(undefined);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const shown = (next: CreationProgress | undefined) => {
    if (!isGone.current) setProgress(next);
  };
  return {
    progress,
    async run(method, params) {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      shown({ done: 0 });
      try {
        return await client.requestLong(method, params, { signal, onProgress: shown });
      } finally {
        shown(undefined);
      }
    },
    stop: () => stopping.current?.abort(),
  };
}

interface Props {
  readonly work: LongWork;
  /** Shown until the host reports progress. */
  readonly label: string;
}

export function WorkProgress({ work: { progress, stop }, label }: Props) {
  if (!progress) return null;
  const { done, total, message = label } = progress;
  const isCounted = total !== undefined && total > 1;
  return (
    <div className="long-work">
      <p role="status">
        {message} {isCounted ? `(${done} of ${total})` : '…'}
      </p>
      <progress aria-label={label} {...(isCounted && { value: done, max: total })} />
      <button type="button" className="small" onClick={stop}>
        Stop
      </button>
    </div>
  );
}
