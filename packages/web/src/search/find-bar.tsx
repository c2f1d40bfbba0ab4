/** Finds words in the open chat, also in turns that are not loaded, from one hit to the next. */
import { type KeyboardEvent, useEffect, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { useStore } from '../model/store.js';
import { IconButton } from '../ui/icons.js';
import { useFound } from './ask.js';
import { isFinding } from './finding.js';
import { placesInTurn, target } from './jump.js';

/** How many turns one request counts; going up counts further. */
const COUNTED = 100;

export function FindBar({ session }: { readonly session: OpenSession }) {
  const [text, setText] = useState('');
  /** The position of the turn, from the newest on. */
  const [at, setAt] = useState(0);
  /** The place in that turn: one goes up from the end of the chat. */
  const [place, setPlace] = useState<number | 'last'>('last');
  const places = useStore(placesInTurn);
  const { result, problem, isAsking, more } = useFound(text, { channel: session.chatUri, limit: COUNTED });
  const count = result?.items.length ?? 0;
  const item = result?.items[at];
  const phrases = result?.phrases;
  useEffect(() => {
    if (!item?.chat || item.turnId === undefined || !phrases) return target.set(undefined);
    target.set({ chat: item.chat, turnId: item.turnId, phrases, place });
  }, [item, phrases, place]);
  useEffect(() => () => target.set(undefined), []);
  const close = () => {
    isFinding.set(false);
    document.getElementById('composer')?.focus();
  };
  const placeNow = place === 'last' ? places - 1 : Math.min(place, places - 1);
  const previous = async () => {
    if (placeNow > 0) return setPlace(placeNow - 1);
    setPlace('last');
    if (at + 1 >= count && result?.nextCursor !== undefined) await more();
    setAt((now) => (now + 1 < count || result?.nextCursor !== undefined ? now + 1 : 0));
  };
  const next = () => {
    if (placeNow + 1 < places) return setPlace(placeNow + 1);
    setPlace(0);
    setAt((now) => (now > 0 ? now - 1 : Math.max(0, count - 1)));
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && event.shiftKey) next();
    else if (event.key === 'Enter') void previous();
    else return;
    event.preventDefault();
  };
  return (
    <search className="find-bar" aria-label="This chat">
      <input
        id="find-in-chat"
        type="search"
        aria-label="Find in this chat"
        placeholder="Find in this chat"
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for it
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          setPlace('last');
        }}
        onKeyDown={pressed}
      />
      <span role="status" className="hint">
        {problem ??
          (text.trim() === '' || isAsking
            ? ''
            : placeText(count, at, result?.nextCursor !== undefined) + withinText(count, placeNow, places))}
      </span>
      <IconButton icon="up" label="Previous (Enter)" onClick={() => void previous()} />
      <IconButton icon="down" label="Next (Shift Enter)" onClick={next} />
      <IconButton icon="close" label="Close the search" onClick={close} />
    </search>
  );
}

/** The position, counted from the first turn. */
function placeText(count: number, at: number, isMore: boolean): string {
  if (count === 0) return 'Not found';
  return isMore ? `${at + 1} from the end of ${count} or more` : `${count - at} of ${count}`;
}

/** Which of several places in the turn. */
function withinText(count: number, place: number, places: number): string {
  return count === 0 || places < 2 ? '' : `, place ${place + 1} of ${places}`;
}
