/** The AGENTS.md and CLAUDE.md that the agent reads here, with their sizes. */
import {
  type ChatState,
  INSTRUCTIONS_METHOD,
  type InstructionFile,
  readInstructionFiles,
} from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { showFile } from '../files/shown-file.js';
import { useOpenSession } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { bytesText } from '../model/format.js';
import { VisibleText } from '../ui/visible-text.js';
import { Section } from './section.js';

export function Instructions({ chat }: { readonly chat: ChatState }) {
  const { client, uri: session, chatUri: channel } = useOpenSession();
  const [files, setFiles] = useState<readonly InstructionFile[]>([]);
  const turns = chat.turns.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each turn the agent may have come to other folders
  useEffect(() => {
    if (!isAtrium(client)) return;
    let isOver = false;
    client.requestExtension(INSTRUCTIONS_METHOD, { channel }).then(
      (answer) => isOver || setFiles(readInstructionFiles(answer)),
      // An older host does not know the request.
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [client, channel, turns]);
  if (files.length === 0) return null;
  return (
    <Section title="Instructions" count={files.length}>
      <ul className="entries" id="session-instructions">
        {files.map((file) => (
          <li key={file.uri}>
            <button type="button" className="link" onClick={() => showFile({ session, uri: file.uri })}>
              <VisibleText text={file.name} />
            </button>
            <span className="hint"> {aboutOf(file)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function aboutOf({ bytes: size, isNested, state }: InstructionFile): string {
  const room = state === 'left-out' ? 'no room for it' : state === 'cut' ? 'only its beginning is read' : undefined;
  return [bytesText(size), isNested ? 'for its folder' : undefined, room].filter(Boolean).join(', ');
}
