/** User messages, content and usage: this wire attaches files by path and knows no metadata. */

import type { Meta, StringOrMarkdown, UsageInfo } from '../../common/types.js';
import type { MessageAttachment, UserMessage } from '../../session/messages.js';
import type { ResourceResponsePart } from '../../session/turns.js';
import type {
  SessionsV1Attachment,
  SessionsV1ContentRefPart,
  SessionsV1UsageInfo,
  SessionsV1UserMessage,
} from './wire.js';

export function flatten(text: StringOrMarkdown): string {
  return typeof text === 'string' ? text : text.markdown;
}

export function messageToWire(message: UserMessage): SessionsV1UserMessage {
  return compact({ text: textToWire(message), attachments: message.attachments?.flatMap(attachmentToWire) });
}

/** Without metadata only the text can say that a provider wrote it: `[ci-watcher] …`. */
function textToWire({ text, _meta }: UserMessage): string {
  const { provider, stream } = gatewayFacts(_meta);
  if (provider === undefined) return text;
  const head = `[${provider}/${stream}] `;
  return `[${provider}] ${text.startsWith(head) ? text.slice(head.length) : text}`;
}

export function messageFromWire({ text, attachments }: SessionsV1UserMessage): UserMessage {
  return compact({ text, attachments: attachments?.flatMap(attachmentFromWire) });
}

export function usageToWire({ _meta, ...usage }: UsageInfo): SessionsV1UsageInfo {
  return usage;
}

export function contentRefToWire({ uri, sizeHint, contentType }: ResourceResponsePart): SessionsV1ContentRefPart {
  return compact({ kind: 'contentRef' as const, uri, sizeHint, mimeType: contentType });
}

function attachmentToWire(attachment: MessageAttachment): SessionsV1Attachment[] {
  const path = attachment.type === 'resource' ? pathFromFileUri(attachment.uri) : undefined;
  return path === undefined ? [] : [{ type: typeToWire(attachment.displayKind), path, displayName: attachment.label }];
}

function typeToWire(displayKind: string | undefined): SessionsV1Attachment['type'] {
  return displayKind === 'directory' || displayKind === 'selection' ? displayKind : 'file';
}

function attachmentFromWire({ type, path, displayName }: SessionsV1Attachment): MessageAttachment[] {
  const uri = fileUriFromPath(path);
  if (uri === undefined) return [];
  const displayKind = type === 'file' ? 'document' : type;
  return [{ type: 'resource', uri, label: displayName ?? baseName(path), displayKind }];
}

// The owners of tools and messages, as metadata names them: providers and MCP servers.

/** Sessions-v1 knows tool servers; a provider is shown as one. */
interface ToolServer {
  readonly serverName?: string;
  /** The server's own name for the tool, if it differs. */
  readonly toolName?: string;
}

export function toolServerOf(meta: Meta | undefined): ToolServer {
  const { provider } = gatewayFacts(meta);
  if (provider !== undefined) return { serverName: provider };
  const { server, tool } = textsIn(meta?.mcp);
  if (server === undefined) return {};
  return tool === undefined ? { serverName: server } : { serverName: server, toolName: tool };
}

/** The host's facts about messages and calls that providers caused. */
function gatewayFacts(meta: Meta | undefined): { readonly provider?: string; readonly stream?: string } {
  return textsIn(meta?.gateway);
}

function textsIn(value: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
}

// File URIs, and the plain paths that this wire uses instead. Undefined means that no such form exists.

const FILE_SCHEME = 'file://';

export function pathFromFileUri(uri: string): string | undefined {
  if (!uri.startsWith(FILE_SCHEME)) return undefined;
  const path = attempt(decodeURIComponent, uri.slice(FILE_SCHEME.length));
  if (path === undefined) return undefined;
  const isLocal = path.startsWith('/');
  return isLocal ? path.replace(/^\/(?=[A-Za-z]:)/, '') : `//${path}`;
}

export function fileUriFromPath(path: string): string | undefined {
  if (path.startsWith(FILE_SCHEME)) return path;
  const slashed = /^([A-Za-z]:)?\\/.test(path) ? path.replaceAll('\\', '/') : path;
  const encoded = attempt(encodeSegments, slashed);
  if (encoded === undefined) return undefined;
  if (encoded.startsWith('//')) return `file:${encoded}`;
  return `${FILE_SCHEME}${encoded.startsWith('/') ? '' : '/'}${encoded}`;
}

export function baseName(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  return parts.at(-1) ?? path;
}

function encodeSegments(path: string): string {
  const segments = path.split('/').map((segment) => encodeURIComponent(segment));
  return segments.join('/').replace(/^(\/?[A-Za-z])%3A/, '$1:');
}

/** Percent coding throws on text that it cannot read or write. */
function attempt(recode: (text: string) => string, text: string): string | undefined {
  try {
    return recode(text);
  } catch {
    return undefined;
  }
}

/** A copy without the members whose value is undefined. */
export function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
