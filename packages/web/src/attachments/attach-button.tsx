/** The ways in: a picker, the camera of a phone, paste, and files that are dropped anywhere on the page. */
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
          // The same file can be chosen again.
          target.value = '';
        }}
      />
    </>
  );
}

/** Takes files that are pasted; text goes into the field as ever. */
export function pastedInto(attaching: Attaching, event: ClipboardEvent): void {
  const { files } = event.clipboardData;
  // Office programs paste a picture of the text beside the text.
  if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  attaching.add(files);
}

/** Whether files are held over the page. They are taken wherever they are dropped, so that no file replaces the page. */
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

/** What a person should know before they send: what was not taken, and whether the model will see the pictures. */
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
