/**
 * The few schema builders that TypeBox does not have. Everything else in this package is plain TypeBox;
 * a schema with an `$id` becomes a named definition of the generated JSON Schema files.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { tagValues } from './node.js';

type Options = { $id?: string; description?: string };

/** One of a fixed set of strings. */
export function Choice<const Values extends readonly string[]>(values: Values, options: Options = {}) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });
}

/**
 * One of a set of strings that a later protocol may extend: unknown values pass validation, so that old software can
 * carry them. The inferred type has only the values known here.
 */
export function OpenChoice<const Values extends readonly string[]>(values: Values, options: Options = {}) {
  return Type.Unsafe<Values[number]>({ type: 'string', examples: [...values], ...options });
}

/** An object used as a map from any string to one kind of value. */
export function MapOf<Value extends TSchema>(value: Value, options: Options = {}) {
  return Type.Unsafe<Record<string, Static<Value>>>({ type: 'object', additionalProperties: value, ...options });
}

/**
 * A union that a later protocol may extend: members with an unknown `tag` value pass validation, so that old software
 * can carry what it does not understand. The inferred type has only the members known here.
 */
export function OpenUnion<const Members extends readonly TSchema[]>(
  tag: string,
  members: Members,
  options: Options = {},
) {
  const known = members.flatMap((member) => tagValues(member, tag));
  const unknownMember = {
    type: 'object',
    required: [tag],
    properties: { [tag]: { type: 'string', not: { enum: known } } },
  };
  return Type.Unsafe<Static<Members[number]>>({ anyOf: [...members, unknownMember], ...options });
}

/** A number in the sequence of the host or of a client. Never larger than a double can represent exactly. */
export const Seq = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  $id: 'Seq',
  description: 'A sequence number.',
});
