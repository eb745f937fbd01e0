import type { FieldOption } from '../../../db/models/custom-field.js';
import { invalidFields } from '../../platform/errors.js';
import { FIELD_TYPE_RULES } from './field-types.js';
import type { FieldType } from './rules.js';

interface GivenOption {
  value: string;
  label?: string | null | undefined;
  color?: string | null | undefined;
}

/**
 * Returns the choices of a field as they are stored.
 * @throws VALIDATION_ERROR a select without choices, or choices of another type
 */
export function checkOptions(type: FieldType, options: readonly GivenOption[]): FieldOption[] {
  const misfit = (message: string) => invalidFields([{ field: 'body.options', message, type: 'custom' }]);
  const { hasOptions } = FIELD_TYPE_RULES[type];
  if (hasOptions && options.length === 0) throw misfit(`options must have at least 1 item for a ${type} field`);
  if (!hasOptions && options.length > 0) throw misfit('options are only for select and multi_select fields');
  return options.map(({ value, label, color }) => ({ value, label: label ?? value, color: color?.toLowerCase() ?? null }));
}
