/** User messages, content and usage: version 1 attaches files by path and knows no metadata. */

import type { UsageInfo } from '../../common/model.js';
import type { StringOrMarkdown } from '../../common/uri.js';
import type { MessageAttachment, UserMessage } from '../../session/messages.js';
import type { ResourceResponsePart } from '../../session/turns.js';
import type { V1Attachment, V1ContentRefPart, V1UsageInfo, V1UserMessage } from '../../versions/v1.js';
import { compact } from './compact.js';
import { baseName, fileUriFromPath, pathFromFileUri } from './file-paths.js';
import { gatewayFacts } from './tool-owners.js';

export function flatten(text: StringOrMarkdown): string {
  return typeof text === 'string' ? text : text.markdown;
}

export function messageToV1(message: UserMessage): V1UserMessage {
  return compact({ text: textToV1(message), attachments: message.attachments?.flatMap(attachmentToV1) });
}

/** Without metadata only the text can say that a provider wrote it: `[ci-watcher] …`. */
function textToV1({ text, _meta }: UserMessage): string {
  const { provider, stream } = gatewayFacts(_meta);
  if (provider === undefined) return text;
  const head = `[${provider}/${stream}] `;
  return `[${provider}] ${text.startsWith(head) ? text.slice(head.length) : text}`;
}

export function messageFromV1({ text, attachments }: V1UserMessage): UserMessage {
  return compact({ text, attachments: attachments?.flatMap(attachmentFromV1) });
}

export function usageToV1({ _meta, ...usage }: UsageInfo): V1UsageInfo {
  return usage;
}

export function contentRefToV1({ uri, sizeHint, contentType }: ResourceResponsePart): V1ContentRefPart {
  return compact({ kind: 'contentRef' as const, uri, sizeHint, mimeType: contentType });
}

function attachmentToV1(attachment: MessageAttachment): V1Attachment[] {
  const path = attachment.type === 'resource' ? pathFromFileUri(attachment.uri) : undefined;
  return path === undefined ? [] : [{ type: typeToV1(attachment.displayKind), path, displayName: attachment.label }];
}

function typeToV1(displayKind: string | undefined): V1Attachment['type'] {
  return displayKind === 'directory' || displayKind === 'selection' ? displayKind : 'file';
}

function attachmentFromV1({ type, path, displayName }: V1Attachment): MessageAttachment[] {
  const uri = fileUriFromPath(path);
  if (uri === undefined) return [];
  const displayKind = type === 'file' ? 'document' : type;
  return [{ type: 'resource', uri, label: displayName ?? baseName(path), displayKind }];
}
