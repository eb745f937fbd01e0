import { Model, type QueryBuilder } from 'objection';

/** What every model shares: rows in the trash are left out by `.modify('live')`. Columns keep their names from the database. */
export abstract class BaseModel extends Model {
  static override get modifiers() {
    return {
      live: (query: QueryBuilder<Model>) => {
        void query.whereNull('deleted_at');
      },
    };
  }
}
