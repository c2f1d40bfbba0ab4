/** The ways to attach files: a picker, the camera of a phone, paste, and dropping files anywhere on the page. */
import { type AgentInfo, isPicture, type MessageAttachment, unseenText } from '@atrium/protocol/ahp-1';
import { type ClipboardEvent, useEffect, useRef, useState } from 'react';
import { hasKeyboard } from '../ui/focus.js';
import { IconButton } from '../ui/icons.js';
import type { Attaching } from './use-attaching.js';

export function AttachButtons({ attaching }: { readonly attaching: Attaching }) {
  return (
    <>
      <FileButton icon="attach" label="Attach files" attaching={attaching} />
      {!hasKeyboard() && <FileButton icon="camera" label="Take a picture" isCamera attaching={attaching} />}
    </>
  );
}

interface FileButtonProps {
  readonly icon: 'attach' | 'camera';
  readonly label: string;
  readonly isCamera?: boolean;
  readonly attaching: Attaching;
}

function FileButton({ icon, label, isCamera = false, attaching }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon={icon} label={label} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        data-attach={icon}
        {...(isCamera ? { accept: 'image/*', capture: 'environment' as const } : { multiple: true })}
        onChange={({ target }) => {
          attaching.add(target.files ?? []);
          // So that a person can choose the same file again.
          target.value = '';
        }}
      />
    </>
  );
}

/** Attaches pasted files; text goes into the field as usual. */
export function pastedInto(attaching: Attaching, event: ClipboardEvent): void {
  const { files } = event.clipboardData;
  // Office programs paste a picture of the text together with the text.
  if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  attaching.add(files);
}

/**
 * True while files are held over the page. The page accepts drops everywhere, so that no dropped file replaces the
 * page.
 */
export function useDrop({ add }: Attaching): boolean {
  const [isOver, setOver] = useState(false);
  const taking = useRef(add);
  useEffect(() => {
    taking.current = add;
  });
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const dropped = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      taking.current(event.dataTransfer.files);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', left);
    addEventListener('drop', dropped);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', left);
      removeEventListener('drop', dropped);
    };
  }, []);
  return isOver;
}

interface NotesProps {
  readonly attaching: Attaching;
  readonly attachments: readonly MessageAttachment[];
  readonly agent: AgentInfo | undefined;
  readonly model: string | undefined;
}

/** Notes before sending: which files were refused, and whether the model will see the pictures. */
export function AttachNotes({ attaching, attachments, agent, model }: NotesProps) {
  const unseen = attachments.some(isPicture) ? unseenText(agent, model) : undefined;
  const notes = [...attaching.notes, ...(unseen === undefined ? [] : [unseen])];
  if (notes.length === 0) return null;
  return (
    <div className="strip attach-notes" role="status">
      {notes.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}
