/**
 * How long something has taken so far. Draws only these few letters again, once a second, and nothing while the page is
 * hidden.
 */
import { useEffect, useState } from 'react';
import { clockText } from '../model/format.js';

const EVERY_MS = 1_000;

export function Elapsed({ workedMs }: { workedMs(now: number): number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    let timer: ReturnType<typeof setInterval> | undefined;
    const watch = () => {
      clearInterval(timer);
      if (document.visibilityState !== 'visible') return;
      setNow(Date.now());
      timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    };
    watch();
    document.addEventListener('visibilitychange', watch);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', watch);
    };
  }, []);
  return <span className="elapsed">{clockText(workedMs(now))}</span>;
}
