import { Model, type QueryBuilder } from 'objection';

/** Base of all models; `.modify('live')` excludes rows in the trash. Columns keep their database names. */
export abstract class BaseModel extends Model {
  static override get modifiers() {
    return {
      live: (query: QueryBuilder<Model>) => {
        void query.whereNull('deleted_at');
      },
    };
  }
}
