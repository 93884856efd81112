import de.bwaldvogel.mongo.*;
import de.bwaldvogel.mongo.backend.*;
import de.bwaldvogel.mongo.backend.aggregation.Aggregation;
import de.bwaldvogel.mongo.backend.memory.*;
import de.bwaldvogel.mongo.bson.*;
import de.bwaldvogel.mongo.exception.*;
import de.bwaldvogel.mongo.oplog.*;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A mongo-java-server whose change streams look like a real replica set's: the stock oplog is replaced by hooks on the
 * storage level. java -cp 'lib/*:classes' [-DoplogMax=N] [-DsplitBytes=N] CdcServer [port]; ends when stdin closes.
 *
 * Beside MongoDB's commands it knows some that bring about what a test cannot wait for, all in the database admin:
 * testTrimOplog forgets every change so far, testExpireImages the images of documents, testKillCursors every change
 * stream, testLoseFinds: n the next n cursors of find after their first answer, testPhantomDrop: "db.coll" makes the
 * events of a drop without one, replSetStepDown: n steps down for n milliseconds.
 */
public class CdcServer extends MemoryBackend {
    record V(List<Integer> getVersionArray, int getWireVersion) implements MongoVersion {
        public List<Integer> getVersionArray() { return getVersionArray; }
        public int getWireVersion() { return getWireVersion; }
    }
    record Ev(long ts, String op, String db, String coll, Document key, Document full, Document before, Document upd,
              Document extra, Instant wall, Document txn, int sub) { }
    static final class Stream2 { long id; String db, coll; Document cs; Aggregation agg; long pos; int sub; boolean closed, split; Document own;
        final ArrayDeque<Document> fragments = new ArrayDeque<>(); int skip; long born = System.nanoTime(); }

    final List<Ev> log = new ArrayList<>();                 // guarded by itself
    int firstIdx = 0;                                       // events dropped from the front of the log
    long trimmedTs = 0;
    long inc = 0, lastTs = 0;
    final int oplogMax = Integer.getInteger("oplogMax", 5_000_000);
    final int splitBytes = Integer.getInteger("splitBytes", 200_000); // events beyond are split; a real server: 16 MB
    final Map<String, UUID> uuids = new ConcurrentHashMap<>();
    volatile long expiredTs = 0, steppedUntil = 0, killed = 0;
    final Set<Long> dead = ConcurrentHashMap.newKeySet();   // cursors of find that are lost after their first answer
    final java.util.concurrent.atomic.AtomicInteger lose = new java.util.concurrent.atomic.AtomicInteger();
    final Map<Long, Stream2> streams = new ConcurrentHashMap<>();
    final Set<String> preImages = ConcurrentHashMap.newKeySet();
    final Map<String, List<Ev>> openTxns = new ConcurrentHashMap<>();
    final ThreadLocal<Document> txn = new ThreadLocal<>();
    final ThreadLocal<Boolean> replacing = ThreadLocal.withInitial(() -> false);
    String addr = "127.0.0.1:0";
    long nextCursor = 1L << 40;

    // ---- storage hooks
    final class Coll extends MemoryCollection {
        final String db, name;
        Coll(MongoDatabase d, String n, CollectionOptions o, CursorRegistry r) {
            super(d, n, o, r); db = d.getDatabaseName(); name = n;
            uuids.put(db + "." + n, UUID.randomUUID());
        }
        boolean sys() { return name.startsWith("system.") || db.equals("local") || db.equals("admin") || db.equals("config"); }
        @Override protected Integer addDocumentInternal(Document d) {
            Integer p = super.addDocumentInternal(d);
            if (!sys()) emit("insert", db, name, key(d), d.cloneDeeply(), null, null, null);
            return p;
        }
        @Override protected void removeDocument(Integer pos) {
            Document d = getDocument(pos);
            super.removeDocument(pos);
            if (!sys()) emit("delete", db, name, key(d), null, d.cloneDeeply(), null, null);
        }
        @Override protected void handleUpdate(Integer pos, Document old, Document now) {
            super.handleUpdate(pos, old, now);
            if (sys()) return;
            Document post = now.cloneDeeply();
            if (replacing.get()) { emit("replace", db, name, key(now), post, old, null, null); return; }
            Document set = new Document(); List<Object> gone = new ArrayList<>();
            diff("", old, now, set, gone);
            emit("update", db, name, key(now), post, old, new Document("updatedFields", set).append("removedFields", gone).append("truncatedArrays", List.of()), null);
        }
    }
    static Document key(Document d) { return new Document("_id", d.get("_id")); }
    static void diff(String p, Document a, Document b, Document set, List<Object> gone) {
        for (String k : b.keySet()) {
            Object x = a.get(k), y = b.get(k);
            if (a.containsKey(k) && Objects.equals(x, y)) continue;
            if (x instanceof Document dx && y instanceof Document dy) diff(p + k + ".", dx, dy, set, gone);
            else set.put(p + k, y instanceof Document dy ? dy.cloneDeeply() : y);
        }
        for (String k : a.keySet()) if (!b.containsKey(k)) gone.add(p + k);
    }
    @Override public MemoryDatabase openOrCreateDatabase(String n) {
        return new MemoryDatabase(n, getCursorRegistry()) {
            @Override protected MemoryCollection openOrCreateCollection(String c, CollectionOptions o) { return new Coll(this, c, o, cursorRegistry); }
        };
    }
    @Override protected Oplog createOplog() {
        return new Oplog() {
            public void handleInsert(String ns, List<Document> d) { }
            public void handleUpdate(String ns, Document s, Document q, List<Object> ids) { }
            public void handleDelete(String ns, Document q, List<Object> ids) { }
            public void handleDropCollection(String ns) {
                int i = ns.indexOf('.');
                if (!ns.substring(i + 1).startsWith("system.")) emit("drop", ns.substring(0, i), ns.substring(i + 1), null, null, null, null, null);
            }
            public Cursor createCursor(Document cs, String ns, Aggregation a) { throw new IllegalStateException(); }
        };
    }

    // ---- log
    void emit(String op, String db, String coll, Document key, Document full, Document before, Document upd, Document extra) {
        Document t = txn.get();
        Ev e = new Ev(0, op, db, coll, key, full, before, upd, extra, Instant.now(), t, 0);
        if (t != null) { openTxns.computeIfAbsent(t.toString(), k -> new ArrayList<>()).add(e); return; }
        synchronized (log) { add(e, next(), 0); log.notifyAll(); }
    }
    void add(Ev e, long ts, int sub) {
        log.add(new Ev(ts, e.op, e.db, e.coll, e.key, e.full, e.before, e.upd, e.extra, e.wall, e.txn, sub));
        if (log.size() > oplogMax + oplogMax / 4) { int n = log.size() - oplogMax; trimmedTs = log.get(n - 1).ts; log.subList(0, n).clear(); }
    }
    long next() {
        long s = Instant.now().getEpochSecond();
        if (s > (lastTs >>> 32)) inc = 0;
        return lastTs = (Math.max(s, lastTs >>> 32) << 32) | ++inc;
    }
    long now() { synchronized (log) { return lastTs == 0 ? next() : lastTs; } }
    static String token(long ts, int sub, int kind) { return String.format("82%016X%08X%02X", ts, sub, kind); } // kind 0 event 1 high water 2 invalidate
    static Document tok(long ts, int sub, int kind) { return new Document("_data", token(ts, sub, kind)); }
    int find(long ts, int sub) { // first index with (ts,sub) > given
        int lo = 0, hi = log.size();
        while (lo < hi) { int m = (lo + hi) >>> 1; Ev e = log.get(m); if (e.ts > ts || (e.ts == ts && e.sub > sub)) hi = m; else lo = m + 1; }
        return lo;
    }

    // ---- change stream cursors
    Document open(String db, String coll, List<Document> pl, Document q) {
        Stream2 s = new Stream2();
        s.cs = (Document) pl.get(0).get("$changeStream"); s.db = db; s.coll = coll;
        MongoDatabase d = resolveDatabase(db.equals("admin") ? "local" : db);
        List<Document> stages = new ArrayList<>(pl.subList(1, pl.size()));
        s.split = stages.removeIf(x -> x.containsKey("$changeStreamSplitLargeEvent"));
        s.agg = Aggregation.fromPipeline(stages, this::resolveDatabase, d, null, null);
        Document ra = (Document) s.cs.get("resumeAfter"), sa = (Document) s.cs.get("startAfter"), t = sa != null ? sa : ra;
        BsonTimestamp at = (BsonTimestamp) s.cs.get("startAtOperationTime");
        synchronized (log) {
            if (t != null) {
                String h = String.valueOf(t.get("_data"));
                if (!h.matches("82[0-9A-F]{26}")) throw new MongoServerError(9, "FailedToParse", "Bad resume token: _data of missing or of wrong type");
                s.pos = Long.parseUnsignedLong(h.substring(2, 18), 16); s.sub = (int) Long.parseLong(h.substring(18, 26), 16);
                if (h.substring(26, 28).compareTo("10") >= 0) { s.skip = Integer.parseInt(h.substring(26, 28), 16) - 0x10; s.sub--; }
                if (h.endsWith("02") && sa == null) throw new MongoServerError(260, "InvalidResumeToken", "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification. Use 'startAfter' instead.");
            } else if (at != null) { s.pos = at.getValue() - 1; s.sub = Integer.MAX_VALUE; }
            else { s.pos = now(); s.sub = Integer.MAX_VALUE; }
            if (s.pos < trimmedTs) throw new MongoServerError(286, "ChangeStreamHistoryLost", "Resume of change stream was not possible, as the resume point may no longer be in the oplog.");
            s.id = nextCursor++;
        }
        streams.put(s.id, s);
        Number bs = (Number) ((Document) q.getOrDefault("cursor", new Document())).getOrDefault("batchSize", 101);
        return reply(s, "firstBatch", take(s, bs.intValue(), 0, t == null && at == null));
    }
    boolean match(Stream2 s, Ev e) {
        if (s.coll == null && s.db.equals("admin")) return true;
        if (!e.db.equals(s.db)) return false;
        return s.coll == null || s.coll.equals(e.coll) || e.op.equals("dropDatabase");
    }
    List<Document> take(Stream2 s, int n, long waitMs, boolean skip) {
        List<Document> out = new ArrayList<>();
        if (s.closed || skip || n == 0) return out;
        long end = System.nanoTime() + waitMs * 1_000_000, bytes = 0;
        for (;;) {
            Ev e;
            // The log's lock is held for looking only: rendering takes the collection's, which writers hold as they log.
            synchronized (log) {
                if (stepped()) throw new Stepped();
                if (killed > s.born) throw new MongoServerError(43, "CursorNotFound", "cursor id " + s.id + " not found");
                while (!s.fragments.isEmpty() && out.size() < n) out.add(s.fragments.poll());
                if (!out.isEmpty() && !s.fragments.isEmpty()) return out;
                if (s.own != null) { if (out.size() < n) { out.add(s.own); s.own = null; s.closed = true; } return out; }
                int i = find(s.pos, s.sub);
                if (i == log.size()) {
                    long left = (end - System.nanoTime()) / 1_000_000;
                    if (!out.isEmpty() || left <= 0) return out;
                    try { log.wait(left); } catch (InterruptedException x) { return out; }
                    continue;
                }
                e = log.get(i);
                s.pos = e.ts; s.sub = e.sub;
            }
            if (!match(s, e)) continue;
            Document d = render(s, e);
            for (Document x : s.agg.runStages(Stream.of(d))) {
                int size = size(x);
                bytes += size;
                if (!s.split || size <= splitBytes) { out.add(x); continue; }
                split(s, e, x);
                while (!s.fragments.isEmpty() && out.isEmpty()) out.add(s.fragments.poll()); // each in an answer of its own
                if (!out.isEmpty()) return out;
            }
            boolean inv = s.coll != null ? (e.op.equals("drop") || e.op.equals("rename") || e.op.equals("dropDatabase")) : e.op.equals("dropDatabase") && !s.db.equals("admin");
            if (inv) s.own = head(e, 2).append("operationType", "invalidate").append("clusterTime", new BsonTimestamp(e.ts)).append("wallTime", e.wall);
            if (out.size() >= n || bytes > 12_000_000) return out;
        }
    }
    /** size is about what a value takes in BSON. */
    static int size(Object o) {
        if (o instanceof Document d) { int n = 5; for (Map.Entry<String, Object> x : d.entrySet()) n += 2 + x.getKey().length() + size(x.getValue()); return n; }
        if (o instanceof Collection<?> c) { int n = 5; for (Object x : c) n += 5 + size(x); return n; }
        if (o instanceof String t) return 5 + t.length();
        if (o instanceof BinData b) return 5 + b.getData().length;
        return 12;
    }
    /** split puts the fields of an event into fragments; those up to s.skip have been sent by an earlier cursor. */
    static void split(Stream2 s, Ev e, Document x) {
        List<Map.Entry<String, Object>> fields = new ArrayList<>(x.entrySet());
        fields.removeIf(f -> f.getKey().equals("_id"));
        List<Document> parts = new ArrayList<>();
        for (Map.Entry<String, Object> f : fields) { // the document and what identifies it apart from all else
            boolean apart = f.getKey().equals("fullDocument") || f.getKey().equals("documentKey");
            if (parts.isEmpty() || apart) parts.add(new Document());
            parts.get(parts.size() - 1).append(f.getKey(), f.getValue());
        }
        for (int i = s.skip; i < parts.size(); i++) {
            Document d = tok(e.ts, e.sub, 0x11 + i);
            s.fragments.add(new Document("_id", d).append("splitEvent", new Document("fragment", i + 1).append("of", parts.size())));
            s.fragments.peekLast().putAll(parts.get(i));
        }
        s.skip = 0;
    }
    static final class Stepped extends RuntimeException { }
    boolean stepped() { return System.currentTimeMillis() < steppedUntil; }
    Document head(Ev e, int kind) { return new Document("_id", tok(e.ts, e.sub, kind)); }
    Document render(Stream2 s, Ev e) {
        Document d = head(e, 0).append("operationType", e.op).append("clusterTime", new BsonTimestamp(e.ts)).append("wallTime", e.wall);
        String fd = String.valueOf(s.cs.getOrDefault("fullDocument", "default")), fb = String.valueOf(s.cs.getOrDefault("fullDocumentBeforeChange", "off"));
        String ns = e.db + "." + e.coll;
        if (e.op.equals("insert") || e.op.equals("replace")) d.append("fullDocument", e.full);
        if (e.op.equals("update") && !fd.equals("default")) {
            if (fd.equals("updateLookup")) {
                Document cur = null;
                MongoCollection<?> c = resolveDatabase(e.db).resolveCollection(e.coll, false);
                if (c != null) for (Document x : c.handleQuery(e.key, 0, 1)) cur = x.cloneDeeply();
                d.append("fullDocument", cur);
            } else if (preImages.contains(ns)) d.append("fullDocument", e.ts <= expiredTs ? null : e.full);
            else if (fd.equals("required")) throw new MongoServerError(47, "NoMatchingDocument", "Change stream was configured to require a post-image, but none was found");
            else d.append("fullDocument", null);
        }
        Document nsd = new Document("db", e.db);
        if (e.coll != null) nsd.append("coll", e.coll);
        d.append("ns", nsd);
        if (e.extra != null) d.putAll(e.extra);
        if (e.txn != null) { d.append("lsid", e.txn.get("lsid")); d.append("txnNumber", e.txn.get("txnNumber")); }
        if (e.key != null) d.append("documentKey", e.key);
        if (e.upd != null) d.append("updateDescription", e.upd);
        if (!fb.equals("off") && !e.op.equals("insert") && e.key != null) {
            if (preImages.contains(ns)) d.append("fullDocumentBeforeChange", e.before);
            else if (fb.equals("required")) throw new MongoServerError(47, "NoMatchingDocument", "Change stream was configured to require a pre-image for all update, delete and replace events, but the pre-image was not found");
            else d.append("fullDocumentBeforeChange", null);
        }
        return d;
    }
    Document reply(Stream2 s, String k, List<Document> b) {
        if (s.closed) streams.remove(s.id);
        Object last = b.isEmpty() ? null : b.get(b.size() - 1).get("_id");
        Document pbrt = last instanceof Document x ? x : tok(s.pos, s.sub == Integer.MAX_VALUE ? 0x7fffffff : s.sub, 1);
        return new Document("cursor", new Document("id", s.closed ? 0L : s.id).append("ns", s.db + "." + (s.coll == null ? "$cmd.aggregate" : s.coll)).append(k, b).append("postBatchResumeToken", pbrt)).append("ok", 1.0);
    }

    // ---- commands
    @Override public Document handleCommand(Channel ch, String db, String cmd, Document q) {
        Document r;
        Object ac = q.get("autocommit");
        boolean inTxn = Boolean.FALSE.equals(ac);
        Document key = inTxn ? new Document("lsid", q.get("lsid")).append("txnNumber", q.get("txnNumber")) : null;
        try {
            if (inTxn && !cmd.endsWith("Transaction")) txn.set(key);
            boolean greeting = cmd.equalsIgnoreCase("hello") || cmd.equalsIgnoreCase("isMaster") || cmd.equalsIgnoreCase("ping");
            if (stepped() && !greeting) throw new Stepped();
            r = handle(ch, db, cmd, q, key);
        } catch (Stepped x) {
            return new Document("ok", 0.0).append("errmsg", "not primary").append("code", 10107).append("codeName", "NotWritablePrimary")
                .append("errorLabels", List.of("ResumableChangeStreamError", "RetryableWriteError"));
        } finally { txn.remove(); }
        if (!(r.get("ok") instanceof Number n) || n.doubleValue() != 1.0) return r;
        BsonTimestamp t = new BsonTimestamp(now());
        return r.append("$clusterTime", new Document("clusterTime", t).append("signature", new Document("hash", new BinData(new byte[20])).append("keyId", 0L))).append("operationTime", t);
    }
    @SuppressWarnings("unchecked")
    Document handle(Channel ch, String db, String cmd, Document q, Document key) {
        switch (cmd.toLowerCase(Locale.ROOT)) {
            case "hello": case "ismaster": {
                Document r = super.handleCommand(ch, db, "isMaster", q);
                boolean primary = !stepped();
                if (primary) r.append("primary", addr); else r.remove("primary");
                return r.append("helloOk", true).append("ismaster", primary).append("isWritablePrimary", primary).append("secondary", !primary).append("setName", "rs0").append("setVersion", 1)
                    .append("hosts", List.of(addr)).append("me", addr).append("logicalSessionTimeoutMinutes", 30).append("connectionId", 1).append("readOnly", false);
            }
            case "aggregate": {
                Object p = q.get("pipeline");
                List<Document> pl = p instanceof Collection<?> c ? new ArrayList<>((Collection<Document>) c) : List.of();
                if (!pl.isEmpty() && pl.get(0).get("$sample") instanceof Document d) { // the library's fails beside writers; the first will do
                    pl.set(0, new Document("$limit", d.get("size")));
                    q.put("pipeline", pl);
                }
                if (!pl.isEmpty() && pl.get(0).containsKey("$changeStream")) return open(db, q.get(cmd) instanceof String s ? s : null, pl, q);
                break;
            }
            case "getmore": {
                Stream2 s = streams.get(((Number) q.get(cmd)).longValue());
                if (s == null) {
                    if (dead.remove(((Number) q.get(cmd)).longValue())) throw new MongoServerError(43, "CursorNotFound", "cursor id " + q.get(cmd) + " not found");
                    q.putIfAbsent("batchSize", 9000);
                    break;
                }
                int n = ((Number) q.getOrDefault("batchSize", Integer.MAX_VALUE)).intValue();
                return reply(s, "nextBatch", take(s, n, ((Number) q.getOrDefault("maxTimeMS", 1000)).longValue(), false));
            }
            case "find": {
                Object hint = q.remove("hint");
                Document min = (Document) q.remove("min"), max = (Document) q.remove("max");
                List<Object> all = new ArrayList<>();
                if (q.get("filter") instanceof Document f && !f.isEmpty()) all.add(f);
                if (min != null) all.add(new Document("$expr", new Document("$gte", List.of("$_id", new Document("$literal", min.get("_id"))))));
                if (max != null) all.add(new Document("$expr", new Document("$lt", List.of("$_id", new Document("$literal", max.get("_id"))))));
                if (!all.isEmpty()) q.put("filter", new Document("$and", all));
                if (hint instanceof Document) q.put("sort", hint);
                q.putIfAbsent("batchSize", 9000);
                Document r = super.handleCommand(ch, db, cmd, q);
                if (r.get("cursor") instanceof Document c && c.get("id") instanceof Number id && id.longValue() != 0 && lose.getAndUpdate(n -> Math.max(0, n - 1)) > 0) dead.add(id.longValue());
                return r;
            }
            case "listcollections": {
                Document r = super.handleCommand(ch, db, cmd, q);
                for (Object o : (Collection<Object>) ((Document) r.get("cursor")).get("firstBatch")) {
                    Document d = (Document) o;
                    String ns = db + "." + d.get("name");
                    UUID id = uuids.get(ns);
                    d.append("type", "collection");
                    if (id != null) d.append("info", new Document("readOnly", false).append("uuid", id));
                    Document options = d.get("options") instanceof Document x ? x : new Document();
                    if (preImages.contains(ns)) options.append("changeStreamPreAndPostImages", new Document("enabled", true));
                    d.append("options", options);
                }
                return r;
            }
            case "testtrimoplog": synchronized (log) { trimmedTs = next(); next(); log.clear(); } return new Document("ok", 1.0);
            case "testexpireimages": synchronized (log) { expiredTs = lastTs; } return new Document("ok", 1.0);
            case "testkillcursors": {
                synchronized (log) { killed = System.nanoTime(); log.notifyAll(); }
                return new Document("ok", 1.0);
            }
            case "testlosefinds": lose.set(((Number) q.get(cmd)).intValue()); return new Document("ok", 1.0);
            case "testphantomdrop": { String ns = (String) q.get(cmd); int i = ns.indexOf('.'); emit("drop", ns.substring(0, i), ns.substring(i + 1), null, null, null, null, null); return new Document("ok", 1.0); }
            case "replsetstepdown": synchronized (log) { steppedUntil = System.currentTimeMillis() + ((Number) q.get(cmd)).longValue(); log.notifyAll(); } return new Document("ok", 1.0);
            case "killcursors": { for (Object id : (Collection<Object>) q.get("cursors")) streams.remove(((Number) id).longValue()); break; }
            case "collmod": { if (q.get("changeStreamPreAndPostImages") instanceof Document d) setPre(db + "." + q.get(cmd), d); return new Document("ok", 1.0); }
            case "create": { if (q.get("changeStreamPreAndPostImages") instanceof Document d) setPre(db + "." + q.get(cmd), d); break; }
            case "committransaction": {
                List<Ev> evs = openTxns.remove(key.toString());
                if (evs != null) synchronized (log) { long ts = next(); int i = 0; for (Ev e : evs) add(e, ts, i++); log.notifyAll(); }
                return new Document("ok", 1.0);
            }
            case "aborttransaction": { openTxns.remove(key.toString()); return new Document("ok", 1.0); } // no rollback of the data!
            case "update": {
                List<Document> us = new ArrayList<>((Collection<Document>) q.get("updates"));
                if (us.size() == 1) return one(ch, db, cmd, q, us.get(0));
                int n = 0, m = 0; List<Document> ups = new ArrayList<>(), errs = new ArrayList<>();
                for (int i = 0; i < us.size(); i++) {
                    Document qq = new Document(); qq.putAll(q); qq.put("updates", List.of(us.get(i)));
                    Document r = one(ch, db, cmd, qq, us.get(i));
                    n += ((Number) r.getOrDefault("n", 0)).intValue(); m += ((Number) r.getOrDefault("nModified", 0)).intValue();
                    for (String l : List.of("upserted", "writeErrors")) if (r.get(l) instanceof Collection<?> c) for (Object o : c) { Document d = (Document) o; d.put("index", i); (l.equals("upserted") ? ups : errs).add(d); }
                    if (!errs.isEmpty() && !Boolean.FALSE.equals(q.get("ordered"))) break;
                }
                Document r = new Document("n", n).append("nModified", m);
                if (!ups.isEmpty()) r.append("upserted", ups);
                if (!errs.isEmpty()) r.append("writeErrors", errs);
                return r.append("ok", 1.0);
            }
            case "findandmodify": if (q.get("update") instanceof Document u) return one(ch, db, cmd, q, new Document("u", u)); break;
            case "renamecollection": {
                Document r = super.handleCommand(ch, db, cmd, q);
                String a = (String) q.get(cmd), b = (String) q.get("to"); int i = a.indexOf('.'), j = b.indexOf('.');
                UUID id = uuids.remove(a);
                if (id != null) uuids.put(b, id);
                emit("rename", a.substring(0, i), a.substring(i + 1), null, null, null, null, new Document("to", new Document("db", b.substring(0, j)).append("coll", b.substring(j + 1))));
                return r;
            }
            case "dropdatabase": { Document r = super.handleCommand(ch, db, cmd, q); emit("dropDatabase", db, null, null, null, null, null, null); return r; }
            default:
        }
        return super.handleCommand(ch, db, cmd, q);
    }
    void setPre(String ns, Document d) { if (Boolean.TRUE.equals(d.get("enabled"))) preImages.add(ns); else preImages.remove(ns); }
    Document one(Channel ch, String db, String cmd, Document q, Document u) {
        Object x = u.get("u");
        replacing.set(x instanceof Document d && (d.isEmpty() || !d.keySet().iterator().next().startsWith("$")));
        try { return super.handleCommand(ch, db, cmd, q); } finally { replacing.set(false); }
    }

    public static void main(String[] a) throws Exception {
        CdcServer b = new CdcServer();
        b.version(new V(List.of(7, 0, 0), 21));
        MongoServer s = new MongoServer(b);
        s.enableOplog();
        s.bind(new InetSocketAddress("127.0.0.1", a.length > 0 ? Integer.parseInt(a[0]) : 0), 1, 64); // an awaiting getMore blocks its worker
        b.addr = "127.0.0.1:" + s.getLocalAddress().getPort();
        System.out.println("LISTENING " + b.addr);
        System.out.flush();
        while (System.in.read() >= 0) { }
        System.exit(0);
    }
}
