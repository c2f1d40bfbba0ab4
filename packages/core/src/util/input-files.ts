/** Finds the files that the input of a tool call names. */
import { fileURLToPath } from 'node:url';

/** Members of a call's input that may name a file. */
const PATH_MEMBERS = ['path', 'file', 'file_path', 'filePath', 'filename', 'uri'] as const;

/** The paths of files and folders, as the model wrote them. */
export function filesInInput(input: Readonly<Record<string, unknown>>): string[] {
  return PATH_MEMBERS.flatMap((member) => {
    const value = input[member];
    return typeof value === 'string' && value !== '' ? (filePathOf(value) ?? []) : [];
  });
}

/** The path of a file; undefined for files of other machines and of clients. */
export function filePathOf(file: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(file)) return file;
  try {
    return file.startsWith('file:') ? fileURLToPath(file) : undefined;
  } catch {
    return undefined;
  }
}
