package pond

/* def inABlock() = 1 */
sealed trait Water[+A] {
  def depth: Int // def inAComment
}

case class Pond(name: String, override val depth: Int = 1) extends Water[String]

object Pond {
  val Limit = 10
  type Row = Map[String, Int]
  implicit def toInt(p: Pond): Int = p.depth
  private[pond] final def deep(p: Pond)(implicit x: Int): Boolean = {
    def inner = "def inAString() = 1"
    p.depth > x
  }
}

enum Colour { case Red, Green }
