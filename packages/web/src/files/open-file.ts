/** Opens a file at a line: beside the conversation, or in the editor chosen on this device. */
import { pathOf } from '../model/format.js';
import { type EditorId, editor } from '../ui/preferences.js';
import { showFile } from './shown-file.js';

export interface FilePlace {
  readonly session: string;
  readonly uri: string;
  /** From 1 on. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export function openFile(place: FilePlace): void {
  const address = editorAddress(editor.get(), place);
  if (address === undefined) showFile({ session: place.session, uri: place.uri, line: place.line && place.line - 1 });
  else goToProgram(address);
}

/** Undefined: the page shows the file. */
export function editorAddress(id: EditorId, { uri, line, column }: Omit<FilePlace, 'session'>): string | undefined {
  if (id === 'viewer' || !uri.startsWith('file:///')) return undefined;
  const path = encodeURI(pathOf(uri)).replace(/[?#]/g, encodeURIComponent);
  const rooted = path.startsWith('/') ? path : `/${path}`;
  if (id === 'idea' || id === 'webstorm' || id === 'pycharm')
    return `${id}://open?file=${encodeURIComponent(pathOf(uri))}${line === undefined ? '' : `&line=${line}`}`;
  const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
  return `${id}://file${rooted}${place}`;
}

/** The browser asks the person the first time; the page stays open. */
function goToProgram(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.click();
}
