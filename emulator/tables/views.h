// SPDX-License-Identifier: BSD-2-Clause
// Defines what goes beside the tables: indices of a database, and views for common questions. The
// views are SQL for both SQLite and DuckDB.
#pragma once

namespace ovnitrace {

/// The indices that the views and the questions of docs/sql.md need. A search for few events by
/// name takes less time than making an index for it.
inline constexpr const char *kSqliteIndices = R"sql(
CREATE INDEX slice_by_thread ON slice(thread, start_ns);
CREATE INDEX slice_by_cpu ON slice(cpu, start_ns) WHERE state = 'running';
CREATE INDEX wakeup_by_tid ON wakeup(tid, time_ns);
)sql";

/// If the kernel used a tid twice, `task` has the name of one of its threads.
inline constexpr const char *kViews = R"sql(
CREATE VIEW task AS
  SELECT tid, name FROM thread WHERE id IN (SELECT max(id) FROM thread GROUP BY tid)
  UNION ALL
  SELECT p.tid, max(p.name) FROM peer p
    JOIN (SELECT tid, max(since_ns) AS since_ns FROM peer WHERE name <> '' GROUP BY tid) newest
      ON newest.tid = p.tid AND newest.since_ns = p.since_ns
    WHERE p.tid > 0 AND p.tid NOT IN (SELECT tid FROM thread) GROUP BY p.tid
  UNION ALL
  SELECT 0, '(idle)' WHERE 0 NOT IN (SELECT tid FROM thread);

CREATE VIEW thread_time AS
  SELECT t.id AS thread, t.tid, t.pid, t.name,
    coalesce(sum(end_ns - start_ns) FILTER (WHERE state = 'running'), 0) AS running_ns,
    coalesce(sum(end_ns - start_ns) FILTER (WHERE state = 'cooling'), 0) AS cooling_ns,
    coalesce(sum(end_ns - start_ns) FILTER (WHERE state = 'warming'), 0) AS warming_ns,
    coalesce(sum(end_ns - start_ns) FILTER (WHERE state = 'paused'), 0) AS paused_ns,
    coalesce(sum(end_ns - start_ns) FILTER (WHERE state = 'unknown'), 0) AS unknown_ns
  FROM thread t LEFT JOIN slice s ON s.thread = t.id
  GROUP BY t.id, t.tid, t.pid, t.name;

CREATE VIEW cpu_time AS
  SELECT s.cpu, t.id AS thread, t.tid, t.name, sum(end_ns - start_ns) AS running_ns
  FROM slice s JOIN thread t ON t.id = s.thread
  WHERE state = 'running' AND s.cpu IS NOT NULL
  GROUP BY s.cpu, t.id, t.tid, t.name;

CREATE VIEW latency AS
  SELECT t.id AS thread, t.tid, t.name, w.start_ns, w.end_ns, w.end_ns - w.start_ns AS ns,
    w.waker_tid, task.name AS waker, k.context
  FROM slice w JOIN thread t ON t.id = w.thread
    JOIN wakeup k ON k.tid = t.tid AND k.time_ns = w.start_ns
    LEFT JOIN task ON task.tid = w.waker_tid
  WHERE w.state = 'warming' AND EXISTS (SELECT 1 FROM slice r
    WHERE r.thread = w.thread AND r.start_ns = w.end_ns AND r.state = 'running');

CREATE VIEW preemption AS
  SELECT t.id AS thread, t.tid, t.name, s.next_tid AS by_tid, task.name AS by_name, count(*) AS times
  FROM slice s JOIN thread t ON t.id = s.thread LEFT JOIN task ON task.tid = s.next_tid
  WHERE s.state = 'running' AND s.reason = 'preempted'
  GROUP BY t.id, t.tid, t.name, s.next_tid, task.name;

CREATE VIEW waking AS
  SELECT w.tid, woken.name, w.waker_tid AS by_tid, task.name AS by_name, w.context,
    count(*) AS times
  FROM wakeup w LEFT JOIN task AS woken ON woken.tid = w.tid
    LEFT JOIN task ON task.tid = w.waker_tid
  GROUP BY w.tid, woken.name, w.waker_tid, task.name, w.context;
)sql";

} // namespace ovnitrace
