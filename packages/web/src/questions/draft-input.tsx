/**
 * A line of text that several people may write in. While it has the focus it shows what is typed here; otherwise what
 * the others last wrote.
 */
import { useEffect, useRef, useState } from 'react';

/** Others see what is typed this much later, at most. */
const SYNC_MS = 250;

interface Props {
  readonly id: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isNumber?: boolean;
}

export function DraftInput({ id, value, onChange, isNumber = false }: Props) {
  const [own, setOwn] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const send = (text: string) => {
    clearTimeout(timer.current);
    if (text !== value) onChange(text);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      id={id}
      type={isNumber ? 'number' : 'text'}
      value={own ?? value}
      onFocus={() => setOwn(value)}
      onChange={({ target }) => {
        setOwn(target.value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(target.value), SYNC_MS);
      }}
      onBlur={({ target }) => {
        send(target.value);
        setOwn(undefined);
      }}
      onKeyDown={(event) => event.key === 'Enter' && send(event.currentTarget.value)}
    />
  );
}
