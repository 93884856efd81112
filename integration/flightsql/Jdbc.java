import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

/** JDBC against the server at args[0], as the user of args[1] and the password of args[2] when given. */
public class Jdbc {
  static void check(boolean ok, Object seen) {
    if (!ok) throw new AssertionError("got " + seen);
  }

  static void equal(Object want, Object got) {
    if (!Objects.equals(want, got)) throw new AssertionError("want " + want + ", got " + got);
  }

  public static void main(String[] args) throws Exception {
    String url = "jdbc:arrow-flight-sql://" + args[0] + "/?useEncryption=false";
    Properties properties = new Properties();
    if (args.length > 1) {
      try (Connection c = DriverManager.getConnection(url + "&user=" + args[1] + "&password=wrong")) {
        throw new AssertionError("a wrong password was taken");
      } catch (SQLException e) {
        check(e.getMessage() != null, e);
      }
      properties.put("user", args[1]);
      properties.put("password", args[2]);
    }
    try (Connection c = DriverManager.getConnection(url, properties)) {
      queries(c);
      types(c);
      parameters(c);
      metadata(c);
      errors(c);
    }
    System.exit(0); // the driver leaves threads behind
  }

  static void queries(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("CREATE TABLE items (id BIGINT, name TEXT, price NUMERIC(10, 2), made TIMESTAMP, ok BOOLEAN, day DATE)");
      equal(2, s.executeUpdate("INSERT INTO items VALUES (1, 'one', 1.10, TIMESTAMP '2024-01-02 03:04:05', true, DATE '2024-02-29'),"
          + " (2, 'two', NULL, NULL, NULL, NULL)"));
      try (ResultSet r = s.executeQuery("SELECT name, count(*) AS n FROM items GROUP BY name ORDER BY name")) {
        check(r.next(), "no row");
        equal("one", r.getString(1)); // a dictionary column would give its index here
        equal(1L, r.getLong("n"));
        check(r.next() && "two".equals(r.getString("name")) && !r.next(), "rows");
      }
      try (ResultSet r = s.executeQuery("SELECT i FROM generate_series(1, 100000) AS g(i)")) {
        long sum = 0;
        while (r.next()) sum += r.getLong(1);
        equal(5000050000L, sum);
      }
    }
  }

  static void types(Connection c) throws SQLException {
    try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT * FROM items ORDER BY id")) {
      check(r.next(), "no row");
      equal(new BigDecimal("1.10"), r.getBigDecimal("price"));
      equal("2024-01-02 03:04:05.0", r.getTimestamp("made").toString());
      equal(true, r.getBoolean("ok"));
      equal("2024-02-29", r.getDate("day").toString());
      ResultSetMetaData m = r.getMetaData();
      equal(6, m.getColumnCount());
      equal(Types.BIGINT, m.getColumnType(1));
      equal(10, m.getPrecision(3));
      check(r.next(), "no second row");
      equal(null, r.getBigDecimal("price"));
      check(r.getObject("made") == null && r.wasNull(), "NULL");
    }
  }

  static void parameters(Connection c) throws SQLException {
    try (PreparedStatement p = c.prepareStatement("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)".replace("?", "%s")
        .formatted("$1", "$2", "$3", "$4", "$5", "$6"))) {
      p.setLong(1, 3);
      p.setString(2, "three");
      p.setBigDecimal(3, new BigDecimal("3.30"));
      p.setTimestamp(4, Timestamp.valueOf("2024-05-06 07:08:09"));
      p.setBoolean(5, false);
      p.setNull(6, Types.DATE);
      equal(1, p.executeUpdate());
    }
    try (PreparedStatement p = c.prepareStatement("SELECT name, price FROM items WHERE id = $1 AND name = $2")) {
      for (int round = 0; round < 2; round++) {
        p.setLong(1, 3);
        p.setString(2, "three");
        try (ResultSet r = p.executeQuery()) {
          check(r.next(), "no row");
          equal(new BigDecimal("3.30"), r.getBigDecimal(2));
        }
      }
    }
    try (PreparedStatement p = c.prepareStatement("INSERT INTO items (id, name) VALUES ($1, $2)")) {
      for (long i = 10; i < 13; i++) {
        p.setLong(1, i);
        p.setString(2, "batch");
        p.addBatch();
      }
      equal(3, Arrays.stream(p.executeBatch()).sum());
    }
    try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT count(*) FROM items WHERE name = 'batch'")) {
      check(r.next(), "no row");
      equal(3L, r.getLong(1));
    }
  }

  static List<String> column(ResultSet r, String name) throws SQLException {
    List<String> out = new ArrayList<>();
    try (r) {
      while (r.next()) out.add(r.getString(name));
    }
    return out;
  }

  static void metadata(Connection c) throws Exception {
    DatabaseMetaData m = c.getMetaData();
    equal("Tidemark", m.getDatabaseProductName());
    equal(List.of("tidemark"), column(m.getCatalogs(), "TABLE_CAT"));
    check(column(m.getSchemas(), "TABLE_SCHEM").contains("public"), "schemas");
    check(column(m.getTableTypes(), "TABLE_TYPE").containsAll(List.of("TABLE", "VIEW")), "table types");
    equal(List.of("items"), column(m.getTables(null, "public", "it%", new String[] {"TABLE"}), "TABLE_NAME"));
    equal(List.of(), column(m.getTables(null, "public", "none", null), "TABLE_NAME"));
    equal(List.of("id", "name", "price", "made", "ok", "day"), column(m.getColumns(null, "public", "items", null), "COLUMN_NAME"));
    try (Statement s = c.createStatement()) {
      s.execute("CREATE CDC TABLE keyed (b BIGINT, a BIGINT, PRIMARY KEY (b, a) NOT ENFORCED)");
    }
    equal(List.of("b", "a"), column(m.getPrimaryKeys(null, "public", "keyed"), "COLUMN_NAME"));
    equal(List.of(), column(m.getImportedKeys(null, "public", "items"), "FKCOLUMN_NAME"));
    equal(List.of(), column(m.getExportedKeys(null, "public", "items"), "FKCOLUMN_NAME"));
    equal(List.of(), column(m.getCrossReference(null, "public", "items", null, "public", "items"), "FKCOLUMN_NAME"));
    // Every question about the product has an answer: an unknown SqlInfo is a NullPointerException in the driver.
    for (java.lang.reflect.Method question : DatabaseMetaData.class.getMethods()) {
      if (question.getParameterCount() > 0 || question.isDefault() || ResultSet.class.isAssignableFrom(question.getReturnType())) continue;
      try {
        question.invoke(m);
      } catch (java.lang.reflect.InvocationTargetException e) {
        if (e.getCause() instanceof SQLFeatureNotSupportedException) continue;
        throw new AssertionError(question.getName(), e.getCause());
      }
    }
  }

  static void errors(Connection c) throws SQLException {
    for (String[] wrong : new String[][] {{"SELECT * FROM nothing", "42P01"}, {"SELEC 1", "42601"}, {"SELECT 1 / (id - id) FROM items", "22012"}}) {
      try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(wrong[0])) {
        while (r.next()) {}
        throw new AssertionError("no error: " + wrong[0]);
      } catch (SQLException e) {
        StringBuilder text = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) text.append(t.getMessage()).append('\n');
        check(text.toString().contains(wrong[1]), text);
      }
    }
    try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT 1")) {
      check(r.next(), "the connection does not go on");
    }
  }
}
