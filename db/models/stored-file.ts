import { BaseModel } from './base.js';

/** The uploaded bytes of a file item. */
export class StoredFile extends BaseModel {
  static override readonly tableName = 'files';
  static override readonly idColumn = 'item_id';

  declare item_id: string;
  /** Bytes. */
  declare size: number;
  /** As the client declared it. */
  declare content_type: string;
  /** Type by the first bytes; null if unknown. */
  declare sniffed_type: string | null;
  /** Lower-case hexadecimal. */
  declare sha256: string;
  /** Key of the object in the store. */
  declare object_key: string;
}
