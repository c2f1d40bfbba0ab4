/** A message as blocks for the agent: what goes before it, what only the model is to know, the message itself. */
import type { ContentBlock, PromptCapabilities } from '@agentclientprotocol/sdk';
import type { MessageAttachment, UserMessage } from '@atrium/protocol';

export interface PromptParts {
  /** Rules of others for this session; absent when the agent has them already. */
  readonly preface: string | undefined;
  /** What was said before, for an agent that does not know. */
  readonly transcript: string | undefined;
  /** What the agent must still hear of earlier turns. */
  readonly untold: readonly string[];
  readonly context: readonly string[];
  readonly message: UserMessage;
}

export function promptBlocks(parts: PromptParts, capabilities: PromptCapabilities): ContentBlock[] {
  const { preface, transcript, untold, context, message } = parts;
  const before = [
    preface && `Instructions for this session:\n\n${preface}`,
    transcript,
    ...untold,
    ...context.map((text) => `Context for the message below:\n\n${text}`),
  ];
  return [
    ...before.flatMap((text) => (text ? textBlock(text) : [])),
    textBlock(message.text),
    ...(message.attachments ?? []).map((attachment) => attachmentBlock(attachment, capabilities)),
  ];
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

/** By what the agent takes; links are taken by all. */
function attachmentBlock(attachment: MessageAttachment, { image }: PromptCapabilities): ContentBlock {
  if (attachment.type === 'simple') return textBlock(attachment.modelRepresentation ?? attachment.label);
  if (attachment.type === 'resource') return { type: 'resource_link', uri: attachment.uri, name: attachment.label };
  const isPicture = attachment.type === 'embeddedResource' && attachment.contentType.startsWith('image/');
  if (image && isPicture) return { type: 'image', data: attachment.data, mimeType: attachment.contentType };
  return textBlock(`[Attached] ${attachment.label}`);
}
