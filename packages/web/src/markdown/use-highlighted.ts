/** Code as coloured HTML, once it is there; undefined until then, and for code that stays plain. */
import { useEffect, useState } from 'react';
import { highlighted } from './highlight.js';

export function useHighlighted(text: string, language: string): string | undefined {
  const [done, setDone] = useState<{ readonly text: string; readonly html: string | undefined }>();
  useEffect(() => {
    let isOver = false;
    highlighted(text, language).then((html) => isOver || setDone({ text, html }));
    return () => {
      isOver = true;
    };
  }, [text, language]);
  return done?.text === text ? done.html : undefined;
}
